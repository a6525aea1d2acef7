"""The web server: Daphne with limits, ASGI wrappers, and middleware."""
