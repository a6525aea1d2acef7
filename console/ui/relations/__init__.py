"""What belongs to what: panels about the other objects around one."""
