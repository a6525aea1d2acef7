# Every target installs what it needs; see scripts/setup.sh.
.PHONY: demo test test-deep quick screenshots chaos soak check bench vendor messages clean
.SILENT:

PY := .venv/bin/python
# Programs are started again and again: what Python compiled is kept, also where the environment forbids it.
export PYTHONDONTWRITEBYTECODE :=
export PORT ?= 8000

demo:
	sh scripts/setup.sh base
	$(if $(RESET),rm -rf .quarterdeck)
	exec $(PY) manage.py demo

PYTEST := $(PY) -m pytest -n auto --no-loadscope-reorder

# The gate: everything that a change can break, once. ARGS="-k name" starts only what those tests need.
test:
	sh scripts/setup.sh dev
	sh scripts/debian.sh chromium-headless-shell fonts-noto-cjk gettext postgresql slapd
	sh scripts/debian.sh containerd runc containernetworking-plugins busybox-static iproute2
	$(PY) -m tests.controlplane.build || echo 'What needs a control plane is left out'
	$(PYTEST) $(ARGS)

# All of it: each page in every look, each crash point, hostile input and chance; for a release. TEST_SEED repeats one.
test-deep: export TEST_DEPTH := deep
test-deep: test

# What needs nothing else: no cluster, no database, no browser, no other program.
quick:
	sh scripts/setup.sh dev
	$(PYTEST) --dist worksteal -m 'not programs and not django_db' $(ARGS)

# Makes the pictures of docs/tasks.md again.
screenshots:
	sh scripts/setup.sh dev
	sh scripts/debian.sh chromium-headless-shell fonts-noto-cjk pngquant
	TEST_DEPTH=deep SCREENSHOTS=docs/screenshots $(PY) -m pytest tests/browser/tasks -k "embedded and (pointer or every_look)"
	TEST_DEPTH=deep SCREENSHOTS=docs/screenshots $(PY) -m pytest tests/browser/repairs -k "light-en-1280 or dark-zh-390"
	SCREENSHOTS=docs/screenshots $(PY) -m pytest tests/browser/logs/test_terminals.py -k "right or quarter"

# Random faults on a real control plane, 200 schedules of them; ARGS="--seed 7" repeats one.
chaos:
	sh scripts/setup.sh dev
	$(PY) -m tests.chaos $(ARGS)

# Whether a browser that shows a list for an hour holds more and more; ARGS="--minutes 10" is quicker.
soak:
	sh scripts/setup.sh dev
	sh scripts/debian.sh chromium
	$(PY) -m bench.browser_memory $(ARGS)

check:
	sh scripts/setup.sh dev
	sh scripts/check.sh

# Compares with client-go and the official package on a real control plane; see bench/README.md.
bench:
	sh scripts/setup.sh dev
	$(PY) -m bench $(ARGS)

# Fetches the front-end files again, at the versions that static/vendor/manifest.json names.
vendor:
	$(PY) scripts/vendor.py

# Collects the strings to translate and compiles the translations.
messages:
	sh scripts/debian.sh gettext
	$(PY) manage.py makemessages --all --no-location --ignore=.venv --ignore=build --ignore=tests
	$(PY) manage.py compilemessages --ignore=.venv --ignore=build

clean:
	rm -rf .venv build .quarterdeck
