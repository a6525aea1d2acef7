# Each target installs its dependencies; see scripts/setup.sh.
.PHONY: demo wheel image test test-deep quick screenshots chaos soak check bench vendor messages clean
.SILENT:

PY := .venv/bin/python
# Python starts often, so keep compiled bytecode even if the environment disables it.
export PYTHONDONTWRITEBYTECODE :=
export PORT ?= 8000

demo:
	sh scripts/setup.sh base
	$(if $(RESET),rm -rf .quarterdeck)
	exec $(PY) manage.py demo

# Build the wheel in dist/, which installs the command `quarterdeck`.
wheel:
	sh scripts/setup.sh dev
	$(PY) -m hatchling build -t wheel

# Build the container image as an OCI archive in build/image. PUSH=registry.example.com/quarterdeck:1 also pushes it.
image:
	sh scripts/setup.sh dev
	sh scripts/debian.sh mmdebstrap skopeo
	$(PY) scripts/image.py $(if $(PUSH),--push $(PUSH))

PYTEST := $(PY) -m pytest -n auto --no-loadscope-reorder

# Run the test suite, as required for each change. ARGS="-k name" selects tests, and starts only what they need.
test:
	sh scripts/setup.sh dev
	sh scripts/debian.sh chromium-headless-shell fonts-noto-cjk gettext postgresql slapd
	sh scripts/debian.sh containerd runc containernetworking-plugins busybox-static iproute2
	$(PY) -m tests.controlplane.build || echo 'Skipping tests that need a control plane'
	$(PYTEST) $(ARGS)

# Run all tests for a release, including all themes and sizes of each page, crash points, hostile input and
# random tests. TEST_SEED repeats a random test.
test-deep: export TEST_DEPTH := deep
test-deep: test

# Run the tests without external dependencies: no cluster, database, browser or other program.
quick:
	sh scripts/setup.sh dev
	$(PYTEST) --dist worksteal -m 'not programs and not django_db' $(ARGS)

# Update the screenshots in docs/tasks.md and docs/wizards.md.
screenshots:
	sh scripts/setup.sh dev
	sh scripts/debian.sh chromium-headless-shell fonts-noto-cjk pngquant
	TEST_DEPTH=deep SCREENSHOTS=docs/screenshots $(PY) -m pytest tests/browser/tasks -k "embedded and (pointer or every_look)"
	TEST_DEPTH=deep SCREENSHOTS=docs/screenshots $(PY) -m pytest tests/browser/tasks/test_wizard_pages.py -k "embedded and (light-en-1280 or dark-en-1680 or dark-en-390)"
	TEST_DEPTH=deep SCREENSHOTS=docs/screenshots $(PY) -m pytest tests/browser/repairs -k "light-en-1280 or dark-zh-390"
	SCREENSHOTS=docs/screenshots $(PY) -m pytest tests/browser/logs/test_terminals.py -k "right or quarter"

# Inject random faults into a real control plane, with 200 schedules; ARGS="--seed 7" repeats one.
chaos:
	sh scripts/setup.sh dev
	$(PY) -m tests.chaos $(ARGS)

# Test a list page for browser memory leaks over an hour; ARGS="--minutes 10" is quicker.
soak:
	sh scripts/setup.sh dev
	sh scripts/debian.sh chromium
	$(PY) -m bench.browser_memory $(ARGS)

check:
	sh scripts/setup.sh dev
	sh scripts/check.sh

# Compare with client-go and the official package on a real control plane; see bench/README.md.
bench:
	sh scripts/setup.sh dev
	$(PY) -m bench $(ARGS)

# Fetch the third-party front-end files that scripts/vendor.toml pins.
vendor:
	$(PY) scripts/vendor.py

# Collect the translatable strings and compile the translations.
messages:
	sh scripts/debian.sh gettext
	$(PY) manage.py makemessages --all --no-location --ignore=.venv --ignore=build --ignore=tests
	$(PY) manage.py compilemessages --ignore=.venv --ignore=build

clean:
	rm -rf .venv build .quarterdeck
