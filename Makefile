# Everything runs in $(VENV), which each target sets up by itself with Python >= 3.10, venv and a package index.

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
MUTANTS_ARGS ?=
FUZZ_ARGS ?=
# .ci/run reads these lines.
EXTRAS := chat,cli,mcp,meaning,metrics,otel,postgres,serve,langchain-core,langchain,langchain-classic,llama-index,tiktoken,tokenizers
# The frameworks of hooks. check-lowest goes without them: they need newer versions of what the adapters share.
HOOKS := ag2,autogen,openai-agents,pydantic-ai

RUN := $(VENV)/bin/python -m
# UV=uv installs in seconds what takes pip minutes.
UV ?=
PIP := $(if $(UV),VIRTUAL_ENV=$(abspath $(VENV)) UV_SYSTEM_CERTS=1 UV_COMPILE_BYTECODE=1 $(UV) --quiet pip,$(RUN) pip --disable-pip-version-check --quiet)
# What pip is to install as torch; the index of PyPI alone would bring the libraries of a graphics card.
TORCH ?= torch --index-url https://download.pytorch.org/whl/cpu
BUILD_OUTPUTS := build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache

export PIP_ROOT_USER_ACTION := ignore

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all mutants fuzz coverage test-servers test-browser check format format-check lint types check-lowest lowest-tests upstream upstream-tests docs site e2e recording eval-locomo thorough release-check ci clean
.PHONY: bench bench-agent-loop bench-builder bench-cost bench-meaning bench-memory bench-tool-results bench-speed bench-stores bench-summaries bench-tokens bench-full bench-model data-benchmarks

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.stamp-cli ## show the gatekeeper at work on a bundled conversation
	@$(VENV)/bin/gatekeeper demo

test: $(VENV)/.stamp-test ## half a minute: acceptance, promises, README and tutorial, a contract for each adapter
	@$(RUN) tests.newcomer

test-all: $(VENV)/.stamp-test-all ## run all tests, with the code blocks of the documentation
	@$(RUN) pytest -q -n auto $(PYTEST_ARGS)

test-servers: $(VENV)/.stamp-test-servers ## run the tests that need PostgreSQL or Redis (apt-get install redis-server)
	@GATEKEEPER_REQUIRE_SERVERS=1 $(RUN) pytest -q -n auto -m "servers or postgres" $(PYTEST_ARGS)

coverage: $(VENV)/.stamp-test-all ## which lines of the library no test runs; build/coverage.txt
	@$(PIP) install --group coverage
	@mkdir -p build
	@$(RUN) pytest -q -n auto --cov --cov-report= -W "ignore::coverage.exceptions.CoverageWarning" $(PYTEST_ARGS)
	@$(RUN) coverage report >build/coverage.txt
	@tail -n 1 build/coverage.txt

test-browser: $(VENV)/.stamp-test-browser ## run the tests that look at pages in a browser (apt-get install chromium npm)
	@GATEKEEPER_REQUIRE_SERVERS=1 $(RUN) pytest -q -m browser $(PYTEST_ARGS)

check: format-check lint types test-all ## everything that must pass before a change goes in

format: $(VENV)/.stamp-lint ## format the code and sort its imports
	@$(RUN) ruff check --quiet --select I --fix .
	@$(RUN) ruff format .

format-check: $(VENV)/.stamp-lint ## say which files `make format` would change
	@$(RUN) ruff format --check .

lint: $(VENV)/.stamp-lint ## ruff
	@$(RUN) ruff check .

types: $(VENV)/.stamp-lint ## strict mypy over the core, the command, the adapters and the benchmarks
	@$(RUN) mypy
	@$(RUN) mypy -p llama_index.memory.gatekeeper

check-lowest: ## run the tests of the adapters on the lowest versions of the frameworks that we allow
	@$(MAKE) --no-print-directory VENV=$(VENV)-lowest lowest-tests

upstream: ## run the frameworks' own tests on their classes and on ours, and compare
	@$(MAKE) --no-print-directory VENV=$(VENV)-upstream upstream-tests

docs: $(VENV)/.stamp-test ## run only the examples in the documentation and in the docstrings
	@$(RUN) pytest tests/test_docs.py $(PYTEST_ARGS)

site: $(VENV)/.stamp-docs ## build the documentation as a site, in build/site, with npm its playground; every link is checked; SERVE=8000 serves it there
	@NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --quiet
	@GATEKEEPER_SITE=build/site $(RUN) pytest -q -n 0 -m site tests/test_site.py
	@echo "build/site/index.html"
	@$(if $(SERVE),echo "http://127.0.0.1:$(SERVE)/" && $(RUN) http.server --bind 127.0.0.1 --directory build/site $(SERVE))

bench: $(VENV)/.stamp-bench ## run the benchmarks on samples; GATEKEEPER_DATA=DIR names the data of the quality benchmarks
	@$(MAKE) --no-print-directory QUICK=--quick data-benchmarks
	@$(RUN) benchmarks.speed --sizes 300,3000 --rounds 20 --adds 5 --seconds 2
	@$(RUN) benchmarks.adapters --prompts 100

bench-speed: $(VENV)/.stamp-bench ## time and memory beside the peers at 1,000 and 10,000 turns, and of builds; build/speed*.json and .svg
	@$(RUN) benchmarks.speed --json build/speed.json --plot build/speed.svg
	@$(RUN) benchmarks.speed_builds --json build/speed_builds.json

bench-agent-loop: $(VENV)/.stamp-test ## 200 rounds of tool use under one limit; needs GATEKEEPER_DATA
	@$(RUN) benchmarks.agent_loop --data "$$GATEKEEPER_DATA"

bench-builder: $(VENV)/.stamp-bench ## the context builder: evidence in the prompt, and its tokens; needs GATEKEEPER_DATA
	@$(RUN) benchmarks.builder --data "$$GATEKEEPER_DATA"

bench-cost: $(VENV)/.stamp-bench ## the bill: dollars and needed turns, ours beside everything; needs GATEKEEPER_DATA
	@$(RUN) benchmarks.cost --data "$$GATEKEEPER_DATA" --ours-only --turns 20 50 100

bench-meaning: $(VENV)/.stamp-bench ## an embedder beside words: recall, cost; needs GATEKEEPER_DATA
	@$(RUN) benchmarks.meaning --data "$$GATEKEEPER_DATA"
	@$(RUN) benchmarks.meaning --cost

bench-memory: $(VENV)/.stamp-bench ## long-term memory: recall beside peers, and what thresholds keep; needs GATEKEEPER_DATA
	@$(RUN) benchmarks.long_term_memory --data "$$GATEKEEPER_DATA"
	@$(RUN) benchmarks.long_term_memory --data "$$GATEKEEPER_DATA" --thresholds

bench-stores: $(VENV)/.stamp-test-servers ## stores beside the frameworks' own: messages a second, reads, what is lost of writes at once
	@$(RUN) tests.servers $(VENV)/bin/python -W ignore -m benchmarks.stores --postgres {postgres}

bench-summaries: $(VENV)/.stamp-test ## what the running summary keeps, beside other ways to choose sentences; needs GATEKEEPER_DATA
	@$(RUN) benchmarks.summaries --data "$$GATEKEEPER_DATA"

bench-tool-results: $(VENV)/.stamp-bench ## tool results: tokens saved, needles kept; GATEKEEPER_DATA=DIR adds real ones, HEADROOM=PYTHON a peer
	@$(RUN) benchmarks.tool_results $(if $(GATEKEEPER_DATA),--data "$(GATEKEEPER_DATA)") $(if $(HEADROOM),--headroom "$(HEADROOM)")

bench-tokens: $(VENV)/.stamp-bench ## error of the token estimates beside others; needs GATEKEEPER_DATA; HEADROOM=PYTHON adds a peer
	@$(RUN) benchmarks.tokens --data "$$GATEKEEPER_DATA" $(if $(HEADROOM),--headroom "$(HEADROOM)")

bench-full: $(VENV)/.stamp-bench ## run the quality benchmarks on everything that lies in GATEKEEPER_DATA
	@$(MAKE) --no-print-directory data-benchmarks

bench-model: $(VENV)/.stamp-bench ## add the peers that need a model to the benchmarks (torch for the CPU, 1 GB)
	@$(PIP) install $(TORCH)
	@$(PIP) install --group bench-model

eval-locomo: $(VENV)/.stamp-test ## LoCoMo's questions answered and judged by a model: GATEKEEPER_DATA, EVAL_BASE_URL, EVAL_MODEL, EVAL_KEY; EVAL_ARGS=--dry-run
	@$(RUN) benchmarks.eval_locomo --data "$$GATEKEEPER_DATA" --base-url "$$EVAL_BASE_URL" --model "$$EVAL_MODEL" --key-env EVAL_KEY $(EVAL_ARGS)

e2e: $(VENV)/.stamp-test ## two conversations over HTTP and the four checks; with MINIMAX_API_KEY against MiniMax, too
	@$(RUN) tests.chat.end_to_end
	@$(RUN) tests.chat.end_to_end --live || [ $$? -eq 2 ]

recording: $(VENV)/.stamp-cli ## record the sessions of the tutorial, draw the picture of the front page
	@$(VENV)/bin/python docs/record_chat.py
	@$(VENV)/bin/python docs/record_terminal.py
	@$(VENV)/bin/python docs/draw_coverage.py

mutants: $(VENV)/.stamp-test-servers ## change the code in 120 places, and see whether any test notices
	@$(PIP) install --group coverage
	@$(RUN) tests.mutants $(MUTANTS_ARGS)

fuzz: $(VENV)/.stamp-test-servers ## the campaign: attack each reader of input for two minutes; FUZZ_ARGS="--seconds 20 --seed 2 text formats"
	@$(PIP) install --group fuzz || echo "atheris does not install here: hypothesis takes its place" >&2
	@$(RUN) tests.fuzz $(FUZZ_ARGS)

thorough: $(VENV)/.stamp-test-all ## everything long: 500 examples, hostile seeds, 1,000 histories over HTTP, mutants, fuzzing, soak, doubling, vulnerabilities, every Python, benchmarks
	@VENV="$(VENV)" MAKE="$(MAKE)" EXTRAS="$(EXTRAS)" bash .ci/thorough

release-check: ## what must hold before a release, on what is committed: builds, contents, every extra on every Python
	@bash .ci/release-check

ci: ## what the CI server runs, on what is committed
	@bash .ci/run

clean: ## remove the environment, the build outputs and the caches
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-upstream $(BUILD_OUTPUTS)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up: one stamp per group of packages, so that a second run installs nothing

$(VENV)/.stamp-venv:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "$(PYTHON) was not found: install Python 3.10 or newer, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "$(PYTHON) is $$("$(PYTHON)" --version 2>&1): this project needs Python 3.10 or newer." >&2; \
	  echo "Name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@echo "setting up $(VENV) (once)"
	@"$(PYTHON)" -m venv --clear $(VENV) || { \
	  echo "$(PYTHON) cannot make an environment: on Debian and Ubuntu, apt-get install python3-venv" >&2; exit 1; }
	@# Dependency groups need pip 25.1.
	@$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.stamp-cli: pyproject.toml $(VENV)/.stamp-venv
	@$(PIP) install --editable '.[cli]'
	@touch $@

$(VENV)/.stamp-test: pyproject.toml $(VENV)/.stamp-cli
	@$(PIP) install --editable '.[$(EXTRAS),$(HOOKS)]' --group test --group test-adapters --group build
	@touch $@

$(VENV)/.stamp-%: pyproject.toml $(VENV)/.stamp-test
	@$(PIP) install --group $*
	@touch $@

upstream-tests: $(VENV)/.stamp-test
	@$(PIP) install --group test-upstream
	@$(VENV)/bin/python tests/upstream/compare.py

# The package mcp needs a newer pydantic.
COMMA := ,
LOWEST_EXTRAS := $(subst mcp$(COMMA),,$(EXTRAS))
LOWEST := langchain==1.0.0 langchain-classic==1.0.0 llama-index-core==0.14.13 pydantic==2.11.10 opentelemetry-api==1.30.0

# Each on all data, or on samples with QUICK=--quick.
data-benchmarks:
	@if [ -z "$$GATEKEEPER_DATA" ]; then \
	  echo "selection, everyday, topics, long_term_memory, meaning left out: set GATEKEEPER_DATA to the folder of their data"; exit; fi; \
	for name in selection everyday topics long_term_memory meaning; do \
	  echo; echo "benchmarks.$$name"; $(RUN) benchmarks.$$name --data "$$GATEKEEPER_DATA" $(QUICK) || exit; done

lowest-tests: pyproject.toml $(VENV)/.stamp-venv
	@$(PIP) install --editable '.[$(LOWEST_EXTRAS)]' $(LOWEST) --group test --group test-adapters
	@$(RUN) pytest -q -n auto -p no:cacheprovider tests/adapters tests/otel --ignore=tests/adapters/test_benchmark_adapters.py $(PYTEST_ARGS)
