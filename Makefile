# Needs python3 (3.11 or newer) and make; everything else is installed into .venv.
# Another Python: make run PYTHON=python3.12

PYTHON ?= python3
SETUP := $(PYTHON) -I annotation/embedded/environment.py
# Modules rather than scripts: those of a .venv name the folder that it was made in.
PY := .venv/bin/python
EMBEDDED := $(PY) -m annotation.embedded
THROWAWAY := $(EMBEDDED) throwaway
# More arguments for pytest, the bench or the screenshots: make test ARGS="-k agreement"
ARGS ?=

# What production sets; nothing answers at these addresses.
PRODUCTION := env -u DEBUG PUBLIC_URL=https://personafeedback.example \
	SECRET_KEY="$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(64))')" \
	DATABASE_URL=postgres://lint@127.0.0.1:1/lint REDIS_URL=redis://127.0.0.1:1/0

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: ## Make .venv and install what running needs
	@$(SETUP) local

.PHONY: setup-dev
setup-dev: ## Install what testing and linting need, too
	@$(SETUP) dev

.PHONY: run
run: setup ## Start everything at http://127.0.0.1:8000 (PORT=8001 for another); Ctrl-C stops it
	@$(EMBEDDED) run

.PHONY: services
services: setup ## Start the servers and a worker in the background, for calling manage.py
	@$(EMBEDDED) services

.PHONY: stop
stop: setup ## Stop what make services started
	@$(EMBEDDED) stop

.PHONY: test
test: setup-dev browser ## Run the whole suite against servers of its own (ARGS="-k word")
	@$(THROWAWAY) -- $(PY) -m pytest -n logical $(ARGS)

.PHONY: browser
browser: setup-dev
	@$(EMBEDDED) browser

.PHONY: lint
lint: setup-dev ## Check style, types, layers, templates, migrations and deployment settings
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -c 'from importlinter.cli import lint_imports_command as lint; lint()'
	$(PY) -m djlint --check --lint templates
	@# Without a database it cannot compare with what is applied, and warns of that.
	$(PRODUCTION) $(PY) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(PRODUCTION) $(PY) manage.py check --deploy --fail-level WARNING

.PHONY: bench
bench: setup-dev browser ## Measure the speeds that are promised, beside their bars
	@$(THROWAWAY) --durable -- $(PY) -m tests.bench $(ARGS)

.PHONY: screenshots
screenshots: setup-dev browser ## Take pictures of every page
	@$(THROWAWAY) -- $(PY) -m tests.screenshots $(ARGS)

# The development lock first; the others hold the same versions, or fewer.
COMPILE := $(PY) -m uv pip compile --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header --quiet pyproject.toml

.PHONY: lock
lock: setup-dev ## Compile requirements*.txt from pyproject.toml (ARGS=--upgrade for newer versions)
	$(COMPILE) --extra dev -o requirements-dev.txt $(ARGS)
	$(COMPILE) --extra local -c requirements-dev.txt -o requirements-local.txt
	$(COMPILE) -c requirements-dev.txt -o requirements.txt
