#!/usr/bin/env python3
"""Quarterdeck's commands: serve, controllers, demo, devcluster, install, and Django's own."""

import gc
import os
import sys

from django.core.management import execute_from_command_line

#: New objects until the youngest are looked at for garbage, and how often that until the older ones are.
#: Nearly everything dies when its last reference does, and hardly anything that is imported at all: to
#: look as often as Python does by itself takes a fifth of the start.
COLLECT_AFTER = (50_000, 20, 50)

if __name__ == "__main__":
    gc.set_threshold(*COLLECT_AFTER)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    execute_from_command_line(sys.argv)
