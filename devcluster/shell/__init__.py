"""Simulated Unix environment of containers: in-memory files, coroutines as processes, and a shell.

It never starts a process or reads a file of the host. Memory is limited per container (`Files`,
`LIMIT`), and long-running scripts yield to the event loop.
"""
