"""Failures of the database."""

from django.db import DatabaseError


def no_database(*_given: object) -> None:
    raise DatabaseError("the server closed the connection")
