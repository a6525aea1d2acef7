"""Declarations of wizards, by the kinds they create."""
