"""Shells in containers that people type into, over sockets that may go away and come back."""
