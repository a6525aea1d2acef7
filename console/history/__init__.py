"""History of changes made with the console, with the state before and after each change.

Changes can be viewed and undone. In contrast, the audit trail records all writes but contains no
manifests.
"""
