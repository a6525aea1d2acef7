#!/bin/sh
# Installs missing Debian packages if possible (root, apt-get), without removing others. Never fails: programs
# that need a package report it themselves.
missing=
for package in "$@"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Debian packages:$missing"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-remove --no-install-recommends $missing; } >/dev/null 2>&1 ||
    echo "quarterdeck: could not install$missing" >&2
else
  echo "quarterdeck: not installed (needs root and apt-get):$missing" >&2
fi
exit 0
