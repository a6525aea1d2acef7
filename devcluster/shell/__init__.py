"""A small Unix for simulated containers: files in memory, processes as coroutines, a shell.

Nothing of the machine is touched: no process is started and no file is read. What a container
holds and does is bounded in memory (`Files`, `LIMIT`) and shares the event loop fairly.
"""
