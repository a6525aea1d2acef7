#!/usr/bin/env python3
"""Django's command-line utility: the command `quarterdeck` in a checkout."""

from quarterdeck.__main__ import main

if __name__ == "__main__":
    main()
