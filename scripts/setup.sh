#!/bin/sh
# Makes .venv, installs the locked dependencies into it and collects the static files.
# Usage: scripts/setup.sh base|dev. Does nothing when all that is done. One line says what is wrong.
# PYTHON=python3.13 sh scripts/setup.sh base: with that interpreter.
set -eu
cd "$(dirname "$0")/.."
set_name=$1
lock=requirements/$set_name.txt

fail() { printf 'quarterdeck: %s\n' "$1" >&2; exit 1; }

recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
complete() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

# Linux distributions optimize their Python with a profile. Those that version managers build seldom
# are, and take a third longer for a page.
choose() {
  PYTHON=python3
  distribution=/usr/bin/python3
  if [ "$(uname)" = Linux ] && recent "$distribution"; then
    complete "$distribution" || complete python3 || sh scripts/debian.sh python3-venv
    ! complete "$distribution" || PYTHON=$distribution
  fi
}

[ -w . ] || fail "cannot write to $(pwd): choose a folder that is yours"
if [ ! -x .venv/bin/pip ]; then
  [ -n "${PYTHON:-}" ] || choose
  command -v "$PYTHON" >/dev/null || fail "$PYTHON is missing: install Python 3.11 or later"
  recent "$PYTHON" || fail "Python 3.11 or later is needed, this is $("$PYTHON" -V 2>&1)"
  echo 'Making .venv'
  "$PYTHON" -m venv .venv >/dev/null 2>&1 ||
    fail "could not make .venv: is the python3-venv package installed, and is there space?"
fi

# dev contains all of base.
for stamp in ".venv/.$set_name" .venv/.dev; do
  if [ -f "$stamp" ] && cmp -s "$stamp" "requirements/$(basename "$stamp" | tr -d .).txt"; then
    installed=yes
  fi
done
if [ -z "${installed:-}" ]; then
  echo "Installing what requirements/$set_name.txt lists"
  log=.venv/install.log
  pip() { .venv/bin/pip install --disable-pip-version-check --quiet --require-hashes -r "$1"; }
  # uv takes a fifth of pip's time. pip may still reach an index that only it was told of.
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
