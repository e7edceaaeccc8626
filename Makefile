# Every verb of the project. `make` prints them. Any of them works as the very first command on a
# machine that has Python 3.11 or newer (and, for the contract's own tools, Node).

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help install run serve demo migrate test operation fuzz fuzz-deep plans bench bench-growth bench-reports bench-ladder bench-compare bench-publish \
        contract reference forms clients clients-long newcomer sdk sdk-typescript profiles mock docs browser bodies bare specification model races cluster cluster-quick \
        pooler pooler-quick upgrade-check coverage format lint types rooms audit check check-long release lock clean

# Where Python may not keep what it has compiled, each process of the tests compiles all of it anew.
unexport PYTHONDONTWRITEBYTECODE

PORT := 8000
ROWS := 10000
VENV := .venv
BIN := $(VENV)/bin
# Two stages: what a server needs with the PostgreSQL that is bundled, then all that develops it.
READY_TO_RUN := $(VENV)/.ready-to-run
READY := $(VENV)/.ready
# The bench has an environment of its own, for the peers that it measures beside the server.
BENCH := .venv-bench/bin
BENCH_READY := .venv-bench/.ready
# So have the generators of clients, and of the core of the SDK.
CLIENTS := .venv-clients/bin
CLIENTS_READY := .venv-clients/.ready
NODE := node_modules/.ready
# The npm packages that only `make clients-long` needs.
GENERATORS := tools/clients/node_modules/.ready
# Tests delete their databases: a file system in memory, if it is large enough, saves the disk's time.
IN_MEMORY := $(shell df -k --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 6000000 { print "TMPDIR=/dev/shm" }')
# The first of these that is Python 3.11 or newer.
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

help: ## Print this
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Every day

install: $(READY) ## Make the virtual environment from the locks

run: $(READY_TO_RUN) ## Serve on port 8000 with a demo business in it (PORT=8001 for another port)
	@$(BIN)/accounting demo --serve --port $(PORT)

serve: $(READY_TO_RUN) ## Serve on port 8000 without the demo (PORT=8001 for another port)
	@$(BIN)/accounting serve --development --port $(PORT)

# Of another PostgreSQL than the one that comes along: TEST_POSTGRES=folder with its programs.
# With an arena for each thread, as glibc has it, a worker keeps a fifth more than it uses.
PYTEST = MALLOC_ARENA_MAX=2 $(IN_MEMORY) $(BIN)/python -m pytest -q -n 3 --no-loadscope-reorder

test: $(READY) ## Run every test in Python but those of `operation` (T=path for some of them)
	@$(PYTEST) $(T)

operation: $(READY) ## Run the tests of server processes, standbys, migrations, operators' commands and the bench
	@$(PYTEST) --operation

format: $(READY) ## Format and sort
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

check: ## All that CI runs, with the time that each part took
	@$(PYTHON) tests/shares.py

check-long: check pooler cluster upgrade-check clients-long model races fuzz-deep ## The same, and what plays for long: before an issue is resolved

##@ The contract

contract: $(READY) $(NODE) forms ## Lint openapi/accounting.yaml and its webhooks; tell what it changes for clients of the last release
	@$(BIN)/openapi-spec-validator openapi/accounting.yaml
	@npm run --silent lint
	@npm run --silent lint-events
	@$(BIN)/python -m tests.contract.released

bodies: $(READY) ## Write handlers/bodies.py anew from the contract
	@$(BIN)/python -m server.contract.body_types > handlers/bodies.py

specification: $(READY) ## Write docs/specification-coverage.md: what is specified, with its tests
	@$(BIN)/python -m tests.contract.specification_table

reference: $(READY) ## Write what docs/ has of the program: settings, commands and database functions
	@for page in settings commands; do $(BIN)/python -m cli.reference $$page > docs/$$page.md || exit; done
	@$(BIN)/python -m tests.persistence.database.function_listing > docs/database-functions.sql

# Keeps what was built where a server finds it, and prints how to install it.
BUILT = $(BIN)/python -m server.docs.reference.built_files

profiles: forms $(NODE) ## Write the contract in other forms to dist/profiles: for generators, OpenAPI 3.1, mocks, Postman, Bruno
	@$(IN_MEMORY) $(BIN)/python -m tools.clients.recorded_story dist/profiles/story.json > /dev/null
	@node tools/clients/collections.mjs dist/profiles
	@$(BUILT) dist/profiles/accounting.postman.json dist/profiles/accounting.bruno.json

# Those that need no Node; written once where several verbs need them.
forms: $(READY)
	@$(BIN)/python -m server.docs.profiles dist/profiles

mock: $(READY) $(NODE) forms ## Answer with the contract's examples on port 8000, without a server (PORT=8001 for another port)
	@node_modules/.bin/prism mock dist/profiles/accounting.mock.yaml --port $(PORT)

# What is generated of it goes into a copy: no generated line is tracked.
sdk: forms $(CLIENTS_READY) ## Build the SDK for Python, which servers of this checkout then serve at /docs/downloads/
	@rm -rf dist/sdk && mkdir -p dist/sdk && cp -R tools/clients/python dist/sdk/source
	@cd dist/sdk/source && PATH="$(CURDIR)/$(CLIENTS):$$PATH" openapi-python-client generate --fail-on-warning \
		--path $(CURDIR)/dist/profiles/accounting.sdk.yaml --meta none --output-path accounting_sdk/core \
		--config generator.yaml --custom-template-path templates > /dev/null
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--wheel-dir dist/sdk dist/sdk/source
	@$(BUILT) dist/sdk/*.whl

sdk-typescript: $(NODE) forms ## The same for TypeScript
	@rm -rf dist/sdk-typescript && mkdir -p dist/sdk-typescript && cp -R tools/clients/typescript dist/sdk-typescript/source
	@node_modules/.bin/openapi-typescript dist/profiles/accounting.yaml --root-types --root-types-no-schema-prefix \
		> dist/sdk-typescript/source/contract.ts
	@$(BIN)/python -m tools.clients.typescript_operations > dist/sdk-typescript/source/operations.ts
	@node_modules/.bin/tsc -p dist/sdk-typescript/source
	@npm pack --silent --pack-destination dist/sdk-typescript ./dist/sdk-typescript/source > /dev/null
	@$(BUILT) dist/sdk-typescript/*.tgz

clients: $(READY) $(NODE) $(CLIENTS_READY) profiles sdk sdk-typescript ## Generate clients, check their types, let them call a server
	@$(BIN)/python -m tools.clients.tests $(CLIENTS)

clients-long: profiles $(CLIENTS_READY) $(GENERATORS) ## Run the Bruno collection, each generator of the downloads page, and a client for Java where javac is
	@$(BIN)/python -m tools.clients.tests $(CLIENTS) long

newcomer: $(READY) $(NODE) ## Go from a bare clone to an invoice by curl, both SDKs, newman and an agent: ten minutes
	@$(BIN)/python -m tools.clients.tests.newcomer

docs: $(READY) ## Write the reference to dist/docs, to be served as the root of a host
	@$(BIN)/python -m server.docs.application dist/docs

browser: $(READY) $(NODE) ## Hold the served reference and the page for people in Chromium, where there is one; pictures go to dist/browser
	@$(BIN)/python -m tests.browser dist/browser

##@ Proof

lint: $(READY) ## Style, the files of containers, the sample of a CI job
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/hadolint Dockerfile
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows docs/ci/*.yml

types: $(READY) ## Types
	@$(BIN)/mypy

rooms: $(READY) ## Who may import whom
	@$(BIN)/lint-imports --no-cache

coverage: $(READY) ## What the tests of the rules run of them, 95 % of all branches at least
	@$(BIN)/coverage run --source=accounting -m pytest -q tests/accounting
	@$(BIN)/coverage report --skip-covered --skip-empty --fail-under=95

fuzz: $(READY) ## Hostile bank files; Schemathesis as partner, with a business token, as two partners
	@$(BIN)/python -m tests.fuzz.bank_files --seconds 5 --seed 1
	@$(IN_MEMORY) $(BIN)/python -m tests.fuzz.run --examples 5 --seed 1

fuzz-deep: $(READY) ## The same for twenty minutes, with random seeds
	@$(BIN)/python -m tests.fuzz.bank_files --seconds 300
	@$(IN_MEMORY) $(BIN)/python -m tests.fuzz.run --deep 900

model: $(READY) ## Two thousand random runs over HTTP beside a small model of the rules
	@$(IN_MEMORY) $(BIN)/python -m tests.model.run --runs 2000 --steps 50 --workers 2

races: $(READY) ## Half a minute of many clients on the same invoices, bank lines, vendor refunds
	@RACE_SECONDS=30 $(IN_MEMORY) $(BIN)/python -m pytest -q -k "races" tests/concurrency

# Where a program `cluster` starts a Citus cluster; without it nothing is shown on one.
CITUS := ../shared/citus

cluster: $(READY) ## The same schema on a Citus cluster: demo, journeys, handlers, races (CITUS=folder)
	@$(IN_MEMORY) $(BIN)/python -m tests.cluster.run $(CITUS)

cluster-quick: $(READY) ## A part of that, in under three minutes
	@$(IN_MEMORY) $(BIN)/python -m tests.cluster.run $(CITUS) --quick

upgrade-check: $(READY) ## The last release's server and handlers' tests on this tree's schema (ARGS="--before TAG tests/handlers/trade")
	@$(IN_MEMORY) $(BIN)/python -m tests.upgrade.run $(ARGS)

pooler: $(READY) ## Journeys, handlers and races once more, through a PgBouncer that lends transactions
	@$(IN_MEMORY) $(BIN)/python -m tests.poolers.run

pooler-quick: $(READY) ## A part of that, in under a minute
	@$(IN_MEMORY) $(BIN)/python -m tests.poolers.run --quick

bench: $(BENCH_READY) ## Every case beside the usual stacks: 40 minutes, into dist/bench (ARGS="--rounds 1" for less)
	@$(BENCH)/python -m tools.bench $(ARGS)

plans: $(READY) ## How PostgreSQL finds every list, by every filter and sort (ROWS=1000000 for more)
	@$(BIN)/python -m tools.bench.plans --rows $(ROWS)

bench-growth: $(BENCH_READY) ## What grows with the books: a quarter of an hour, half of it to plant a million invoices
	@$(BENCH)/python -m tools.bench.growth $(ARGS)

bench-reports: $(READY) ## What reports cost the database with up to a million lines: five minutes (ARGS="--lines 10000 100000" for less)
	@$(BIN)/python -m tools.bench.reports $(ARGS)

bench-ladder: $(READY) ## What each rung of docs/scaling.md costs a request: three minutes (ARGS="--rounds 3" for less)
	@$(BIN)/python -m tools.bench.ladder $(ARGS)

bench-compare: $(READY) ## Fail where B.json has lost a tenth against A.json (A=... B=...)
	@$(BIN)/python -m tools.bench.compare $(A) $(B)

bench-publish: $(BENCH_READY) ## Write tools/bench/RESULTS.md from dist/bench
	@$(BENCH)/python -m tools.bench.publish dist/bench

bare: ## Clone HEAD into a folder of its own, install what a server needs there, and fill the demo
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && git clone -q . "$$folder/clone" \
		&& cd "$$folder/clone" && ACCOUNTING_DATA_DIR="$$folder/data" $(MAKE) --no-print-directory demo > /dev/null

audit: $(READY) ## Known holes in what the server is made of (asks the package index)
	@$(BIN)/pip-audit -r requirements.lock --require-hashes --disable-pip

release: $(READY) ## Cut the changelog, keep the contract as released, commit and tag (VERSION=1.4.0)
	@$(BIN)/python -m tests.release $(VERSION)

##@ The operator

migrate: $(READY_TO_RUN) ## Bring the database to the newest schema
	@$(BIN)/accounting migrate

demo: $(READY_TO_RUN) ## Fill the demo business
	@$(BIN)/accounting demo

##@ Housekeeping

RESOLVE := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet
LOCK := $(RESOLVE) pyproject.toml --extra build

lock: $(READY) ## Resolve all locks anew
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/$(LOCK) --upgrade -o requirements.lock
	@for extra in embedded mcp traces; do \
		$(BIN)/$(LOCK) --upgrade --extra $$extra -c requirements.lock -o requirements-$$extra.lock || exit; done
	@$(BIN)/$(LOCK) --upgrade --extra dev -c requirements-embedded.lock -o requirements-dev.lock
	@$(BIN)/$(LOCK) --upgrade --extra bench -c requirements.lock -o requirements-bench.lock
	@$(BIN)/$(RESOLVE) --group clients --upgrade -o requirements-clients.lock

clean: ## Remove what can be made again
	@rm -rf $(VENV) .venv-bench .venv-clients node_modules dist build .mypy_cache .ruff_cache .hypothesis .schemathesis

# Names a step that takes a while, and shows on a terminal for how long it has been under way.
STEP := $(PYTHON) cli/progress.py
INSTALL := python -m pip install -qq --disable-pip-version-check
PIP := $(BIN)/$(INSTALL)

$(READY_TO_RUN): requirements-embedded.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed."; exit 1; }
	@test -x $(BIN)/pip || $(STEP) "Making the virtual environment $(VENV)" $(PYTHON) -m venv $(VENV)
	@$(STEP) "Installing what a server needs into $(VENV)" $(PIP) --require-hashes -r requirements-embedded.lock
	@$(STEP) "Installing the project itself" $(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(READY): $(READY_TO_RUN) requirements-dev.lock
	@$(STEP) "Installing what tests and builds need into $(VENV)" $(PIP) --require-hashes -r requirements-dev.lock
	@touch $@

$(BENCH_READY): requirements-bench.lock pyproject.toml
	@test -x $(BENCH)/pip || $(STEP) "Making the virtual environment .venv-bench" $(PYTHON) -m venv .venv-bench
	@$(STEP) "Installing what the bench's lock names" $(BENCH)/$(INSTALL) --require-hashes -r requirements-bench.lock
	@$(STEP) "Installing the project itself" $(BENCH)/$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(CLIENTS_READY): requirements-clients.lock
	@test -x $(CLIENTS)/pip || $(STEP) "Making the virtual environment .venv-clients" $(PYTHON) -m venv .venv-clients
	@$(STEP) "Installing what generates clients" $(CLIENTS)/$(INSTALL) --require-hashes -r requirements-clients.lock
	@touch $@

$(NODE): package-lock.json
	@$(STEP) "Installing the contract's own tools" npm ci --silent --no-audit --no-fund
	@touch $@

$(GENERATORS): tools/clients/package-lock.json
	@$(STEP) "Installing generators of clients" npm ci --prefix tools/clients --silent --no-audit --no-fund
	@touch $@
