#!/usr/bin/env python3
"""Django's command-line utility, with Quarterdeck's commands: serve, controllers, demo, devcluster,
install.
"""

import gc
import os
import sys

from django.core.management import execute_from_command_line

#: Garbage collection thresholds. Nearly all objects are freed by reference counting, and imported
#: modules are hardly ever freed. With Python's defaults, garbage collection takes a fifth of the
#: startup time.
COLLECT_AFTER = (50_000, 20, 50)

if __name__ == "__main__":
    gc.set_threshold(*COLLECT_AFTER)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    execute_from_command_line(sys.argv)
