"""Kinds, permissions, actions and other basics of pages."""
