"""Runs a command of Quarterdeck: `quarterdeck serve`, `controllers`, `demo`, `install`, `doctor` …"""

import gc
import os
import sys
from pathlib import Path

from django.core.management import execute_from_command_line

#: Garbage collection thresholds. Nearly all objects are freed by reference counting, and imported
#: modules are hardly ever freed. With Python's defaults, garbage collection takes a fifth of the
#: startup time.
COLLECT_AFTER = (50_000, 20, 50)
#: The console's packages in a wheel. A checkout has them beside this package.
APP = Path(__file__).parent / "app"


def main() -> None:
    """Run the command in `sys.argv`, as Django's `manage.py` does."""
    if APP.is_dir():
        sys.path.insert(0, str(APP))
    # Django would call the program `python -m django`.
    if Path(sys.argv[0]).name == "__main__.py":
        sys.argv[0] = "quarterdeck"
    gc.set_threshold(*COLLECT_AFTER)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
