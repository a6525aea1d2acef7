#!/bin/sh
# Runs all static checks. Stops at the first failure.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin
export DATABASE_URL=sqlite://:memory:

step() { printf '%s\n' "== $*"; "$@"; }

step $bin/ruff check .
step $bin/ruff format --check --quiet .
step $bin/mypy --num-workers 2
step $bin/lint-imports --no-logo
step $bin/python manage.py check --fail-level WARNING
step $bin/python manage.py makemigrations --check --dry-run
step sh -c "find templates -name '*.html' | xargs $bin/djhtml --check"
step $bin/python scripts/vendor.py --check
echo '== checked'
