# Every verb of the project. `make` prints them. Any of them works as the very first command on a
# machine that has Python 3.11 or newer (and, for the contract's own tools, Node).

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help install run serve demo migrate test fuzz fuzz-deep bench contract clients docs bodies bare \
        specification \
        model races coverage format lint types rooms audit check check-long lock clean

# Where Python may not keep what it has compiled, each process of the tests compiles all of it anew.
unexport PYTHONDONTWRITEBYTECODE

PORT := 8000
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE := node_modules/.ready
# The first of these that is Python 3.11 or newer.
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

help: ## Print this
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Every day

install: $(READY) ## Make the virtual environment from the lock

run: $(READY) ## Serve on port 8000 with a demo business in it (PORT=8001 for another port)
	@$(BIN)/accounting demo --serve --port $(PORT)

serve: $(READY) ## Serve on port 8000 without the demo (PORT=8001 for another port)
	@$(BIN)/accounting serve --development --port $(PORT)

# With an arena for each thread, as glibc has it, a worker keeps a fifth more than it uses.
test: $(READY) ## Run every test in Python (T=path for some of them)
	@MALLOC_ARENA_MAX=2 $(BIN)/python -m pytest -q -n 3 --no-loadscope-reorder $(T)

format: $(READY) ## Format and sort
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

check: ## All that CI runs, with the time that each part took
	@$(PYTHON) tests/shares.py

check-long: check model races fuzz-deep ## The same, and what plays for long: before an issue is resolved

##@ The contract

contract: $(READY) $(NODE) ## Lint openapi/accounting.yaml
	@$(BIN)/openapi-spec-validator openapi/accounting.yaml
	@npm run --silent lint

bodies: $(READY) ## Write handlers/bodies.py anew from the contract
	@$(BIN)/python -m server.body_types > handlers/bodies.py

specification: $(READY) ## Write docs/specification-coverage.md: what is specified, with its tests
	@$(BIN)/python -m tests.contract.specification_table

clients: $(READY) $(NODE) ## Generate a typed client from the contract, compile it and let it call
	@npm run --silent client
	@$(BIN)/python -m tests.clients

docs: $(READY) ## Write the reference to dist/docs
	@$(BIN)/python -m server.docs dist/docs

##@ Proof

lint: $(READY) ## Style, and the files of containers
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/hadolint Dockerfile
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml

types: $(READY) ## Types
	@$(BIN)/mypy

rooms: $(READY) ## Who may import whom
	@$(BIN)/lint-imports --no-cache

coverage: $(READY) ## What the tests of the rules run of them, 95 % of all branches at least
	@$(BIN)/coverage run --source=accounting -m pytest -q tests/accounting
	@$(BIN)/coverage report --skip-covered --skip-empty --fail-under=95

fuzz: $(READY) ## Hostile bank files; Schemathesis as partner, with a business token, as two partners
	@$(BIN)/python -m tests.fuzz.bank_files --seconds 5 --seed 1
	@$(BIN)/python -m tests.fuzz.run --examples 7 --seed 1

fuzz-deep: $(READY) ## The same for twenty minutes, with random seeds
	@$(BIN)/python -m tests.fuzz.bank_files --seconds 300
	@$(BIN)/python -m tests.fuzz.run --deep 900

model: $(READY) ## Two thousand random runs over HTTP beside a small model of the rules
	@$(BIN)/python -m tests.model.run --runs 2000 --steps 50 --workers 2

races: $(READY) ## Half a minute of many clients on the same invoices, bank lines, vendor refunds
	@RACE_SECONDS=30 $(BIN)/python -m pytest -q -k "races" tests/concurrency

bench: $(READY) ## CPU per request beside the usual stacks
	@$(BIN)/python -m bench.http_cost && $(BIN)/python -m bench.posting_cost \
		&& $(BIN)/python -m bench.deep_pages && $(BIN)/python -m bench.check_books \
		&& $(BIN)/python -m bench.chart

bare: ## Clone HEAD into a folder of its own, install there and run a few tests
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && git clone -q . "$$folder/clone" \
		&& cd "$$folder/clone" && $(MAKE) --no-print-directory test T=tests/test_packaging.py \
		&& $(BIN)/accounting --help > /dev/null

audit: $(READY) ## Known holes in what the server is made of (asks the package index)
	@$(BIN)/pip-audit -r requirements.lock --require-hashes --disable-pip

##@ The operator

migrate: $(READY) ## Bring the database to the newest schema
	@$(BIN)/accounting migrate

demo: $(READY) ## Fill the demo business
	@$(BIN)/accounting demo

##@ Housekeeping

LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --quiet --extra build

lock: $(READY) ## Resolve both locks anew
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/$(LOCK) --upgrade -o requirements.lock
	@$(BIN)/$(LOCK) --upgrade --extra dev -o requirements-dev.lock

clean: ## Remove what can be made again
	@rm -rf $(VENV) node_modules dist build .mypy_cache .ruff_cache .hypothesis .schemathesis

# Names a step that takes a while, and shows on a terminal for how long it has been under way.
STEP := $(PYTHON) cli/progress.py
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check

$(READY): requirements-dev.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed."; exit 1; }
	@test -x $(BIN)/pip || $(STEP) "Making the virtual environment $(VENV)" $(PYTHON) -m venv $(VENV)
	@$(STEP) "Installing what the lock names into $(VENV)" $(PIP) --require-hashes -r requirements-dev.lock
	@$(STEP) "Installing the project itself" $(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(NODE): package-lock.json
	@$(STEP) "Installing the contract's own tools" npm ci --silent --no-audit --no-fund
	@touch $@
