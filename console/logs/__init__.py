"""Logs of containers: read as the viewer, searched, shown and handed on."""
