"""Panels for related objects: owners, owned objects, references and selected pods."""
