# Every target installs what it needs; see scripts/setup.sh.
.PHONY: demo test screenshots chaos soak check bench vendor messages clean
.SILENT:

PY := .venv/bin/python
export PORT ?= 8000

demo:
	sh scripts/setup.sh base
	$(if $(RESET),rm -rf .quarterdeck)
	exec $(PY) manage.py demo

test:
	sh scripts/setup.sh dev
	sh scripts/debian.sh chromium fonts-noto-cjk gettext postgresql slapd
	$(PY) -m tests.controlplane.build || echo 'What needs a control plane is left out'
	$(PY) -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(ARGS)

# Makes the pictures of docs/tasks.md again.
screenshots:
	sh scripts/setup.sh dev
	sh scripts/debian.sh chromium fonts-noto-cjk pngquant
	SCREENSHOTS=docs/screenshots $(PY) -m pytest tests/browser/tasks -k "embedded and (pointer or every_look)"

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
