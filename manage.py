#!/usr/bin/env python3
"""Quarterdeck's commands: serve, controllers, demo, devcluster, install, and Django's own."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    execute_from_command_line(sys.argv)
