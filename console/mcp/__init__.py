"""Endpoint for assistants with the Model Context Protocol.

https://modelcontextprotocol.io/specification. The official package implements the protocol. Each tool
sends requests to pages of the console, in the same process and with the client's token. Permissions,
hidden values, audit records and error messages are therefore those of the pages (ADR 29).
"""
