"""Saved views: named queries of list pages."""
