"""Descriptions of objects, as shown by `kubectl describe`, for `DescriptionPanel`.

Each function takes a manifest with untrusted values and yields sections.
"""
