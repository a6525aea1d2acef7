"""Pages of the user's own account.

Users have no Kubernetes permission for their own User object. These pages write with the
console's credentials, only to the signed-in user's object, and only the fields that each page
edits.
"""
