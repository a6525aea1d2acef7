"""What becomes of the pods of shells when their terminals have ended."""
