"""Long-running operations: their progress is stored so that every process can show and stop them,
and another process can resume them after a crash (ADR 15).
"""
