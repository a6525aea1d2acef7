"""Terminals in containers, which survive a reconnect of their websocket."""
