#!/bin/sh
# Creates .venv, installs the locked dependencies and collects the static files. Does nothing if all of this
# is up to date. Errors are reported on one line.
#
# Usage: scripts/setup.sh base|dev
#
# PYTHON=python3.13 sh scripts/setup.sh base: use this interpreter.
set -eu
cd "$(dirname "$0")/.."
set_name=$1
lock=requirements/$set_name.txt

fail() { printf 'quarterdeck: %s\n' "$1" >&2; exit 1; }

recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
complete() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

# Linux distributions build Python with profile-guided optimization. Builds of version managers often lack it,
# and take a third longer per page.
choose() {
  PYTHON=python3
  distribution=/usr/bin/python3
  if [ "$(uname)" = Linux ] && recent "$distribution"; then
    complete "$distribution" || complete python3 || sh scripts/debian.sh python3-venv
    ! complete "$distribution" || PYTHON=$distribution
  fi
}

[ -w . ] || fail "cannot write to $(pwd): use a folder that you own"
if [ ! -x .venv/bin/pip ]; then
  [ -n "${PYTHON:-}" ] || choose
  command -v "$PYTHON" >/dev/null || fail "$PYTHON is missing: install Python 3.11 or later"
  recent "$PYTHON" || fail "Python 3.11 or later is needed, this is $("$PYTHON" -V 2>&1)"
  echo 'Creating .venv'
  "$PYTHON" -m venv .venv >/dev/null 2>&1 ||
    fail "could not create .venv: check that python3-venv is installed and that the disk is not full"
fi

# The dev set includes the base set.
for stamp in ".venv/.$set_name" .venv/.dev; do
  if [ -f "$stamp" ] && cmp -s "$stamp" "requirements/$(basename "$stamp" | tr -d .).txt"; then
    installed=yes
  fi
done
if [ -z "${installed:-}" ]; then
  echo "Installing requirements/$set_name.txt"
  log=.venv/install.log
  pip() { .venv/bin/pip install --disable-pip-version-check --quiet --require-hashes -r "$1"; }
  # uv takes a fifth of pip's time. Fall back to pip, which may be configured with a different index.
  quickly() { pip requirements/uv.txt && .venv/bin/uv pip install --quiet --python .venv --require-hashes -r "$1"; }
  quickly "$lock" >"$log" 2>&1 || pip "$lock" >"$log" 2>&1 ||
    fail "could not install the packages: $(grep -m1 -i error "$log" || tail -n 1 "$log"). Is a package index reachable?"
  cp "$lock" ".venv/.$set_name"
fi

if [ ! -f build/static/staticfiles.json ] || [ -n "$(find static -newer build/static/staticfiles.json -print -quit)" ]; then
  rm -rf build/static
  .venv/bin/python manage.py collectstatic --noinput --verbosity 0 ||
    fail 'could not collect the static files'
fi
