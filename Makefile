# Needs Python 3.11 or newer with venv, and make. Everything else is installed into $(VENV).

VENV ?= .venv
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

# The Functions worker's library needs 3.13; a bare name may be a version manager's shim.
VENV_313 := .venv-3.13
PYTHON_313 ?= $(shell for python in python3.13 $${PYENV_ROOT:-$$HOME/.pyenv}/versions/3.13.*/bin/python3.13; do \
	$$python -c 'import ensurepip, venv' 2>/dev/null && echo $$python && break; done)

BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
LOCK := requirements/dev.txt

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

.PHONY: help demo test lint coverage crash-test conformance functions-test infra-test lock clean

help:
	@echo "make demo        play the story: every kind of duplicate, on both emulators"
	@echo "make test        the whole suite"
	@echo "make lint        style, types and the direction of imports"
	@echo "make coverage    the suite with branch coverage"
	@echo "make crash-test  a thousand orders while the workers are killed"
	@echo "make conformance Microsoft's own SDK tests against the emulators; downloads them"
	@echo "make functions-test  the app in the real Functions worker library, on Python 3.13"
	@echo "make infra-test  templates, guards, alerts; with a Bicep compiler and npm where they are"
	@echo "make lock        write $(LOCK) anew; FLAGS=--upgrade takes newer releases"
	@echo "make clean       remove what the other targets made"

demo: $(INSTALLED)
	@$(BIN)/python -m shop demo

test: $(INSTALLED)
	@$(BIN)/python -m pytest -q -n auto --dist worksteal

lint: $(INSTALLED)
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

coverage: $(INSTALLED)
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -q -n auto --dist worksteal
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

crash-test: $(INSTALLED)
	@$(BIN)/python -m tests.acceptance.crash

conformance: $(INSTALLED)
	@$(BIN)/python -m emulators.conformance

functions-test:
	@$(MAKE) --no-print-directory VENV=$(VENV_313) PYTHON=$(PYTHON_313) $(VENV_313)/.installed
	@$(VENV_313)/bin/python -m tests.hosts.functions

infra-test: $(INSTALLED)
	@npm ci --prefix tests/infra/kusto --silent --no-audit --no-fund \
		|| echo "No npm: the alerts' queries are not analysed."
	@$(BIN)/python infra/generate.py --check
	@$(BIN)/python -m pytest -q tests/infra -n auto --dist worksteal

lock: $(INSTALLED)
	@$(BIN)/uv pip compile pyproject.toml emulators/pyproject.toml \
		--extra functions --extra worker --extra cli --extra telemetry --group dev \
		--universal --python $(BIN)/python --python-version 3.11 \
		--generate-hashes --no-annotate --custom-compile-command "make lock" \
		--quiet --output-file $(LOCK) $(FLAGS)
	@$(BIN)/uv pip compile pyproject.toml requirements/functions.in \
		--extra functions --extra telemetry \
		--universal --python $(BIN)/python --python-version 3.11 \
		--no-annotate --custom-compile-command "make lock" \
		--quiet --output-file requirements.txt $(FLAGS)

clean:
	@rm -rf $(VENV) .venv-3.13 build dist .coverage* .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache tests/infra/kusto/node_modules
	@find . \( -name __pycache__ -o -name '*.egg-info' \) -prune -exec rm -rf {} +

$(INSTALLED): $(LOCK) pyproject.toml emulators/pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed." >&2; exit 1; }
	@echo "Installing into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --require-hashes --requirement $(LOCK)
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation \
		--editable . --editable emulators
	@touch $@
