# `make demo` and `make test` create the environment .venv if none is active, and install what they need.
# `SIM=verilator make demo` names the simulator; without it, Icarus is used if `iverilog` is found.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := $(or $(VIRTUAL_ENV),.venv)
PY := "$(VENV)/bin/python"
STAMP := "$(VENV)/.pytest-dvwiki-installed"
SIMULATOR := $(or $(SIM),$(if $(shell command -v iverilog),icarus,verilator))
# One more than there are cores: some tests only wait, as for a simulation that hangs.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n > 8 ? 9 : n + 1)))
# Thousands of tests write and sync small files: those are faster in memory, where there is enough of it.
MEMORY := $(shell free=$$(df --output=avail /dev/shm 2>/dev/null | tail -1); test $${free:-0} -gt 6000000 && echo /dev/shm)

ACTIVATE := export PATH="$$(cd "$(VENV)/bin" && pwd):$$PATH"
# Creates a folder for temporary files that is removed at the end; some tests run as another user, who has to reach it.
TEMPORARY := export TMPDIR="$$(mktemp -d $(if $(MEMORY),-p $(MEMORY)))"; chmod 755 "$$TMPDIR"; trap 'rm -rf "$$TMPDIR"' EXIT;

.PHONY: help
help: ## show these lines
	@sed -n 's/^\([a-z]*\):[^#]*## /make \1\t/p' Makefile | expand -t 16

.PHONY: demo
demo: tools env ## run a regression with faults, day by day: new, known, fixed, back again
	@$(ACTIVATE); python sample_tb/demo.py

.PHONY: test
test: tools env ## run the tests
	@$(ACTIVATE); $(TEMPORARY) python -m pytest -n $(WORKERS) -m 'not further_mode'

.PHONY: coverage
coverage: tools env ## run the tests with a report of line coverage
	@$(ACTIVATE); rm -f .coverage .coverage.*; \
	python -m coverage run -m pytest -n $(WORKERS) -m 'not further_mode'; \
	python -m coverage combine -q; python -m coverage report

.PHONY: fuzz
fuzz: tools env ## run the readers on random input, ten minutes each
	@$(ACTIVATE); python -m pytest -n $(WORKERS) --hypothesis-profile other tests/fuzz tests/property; \
	python -m pip install -qq --disable-pip-version-check --only-binary :all: atheris || \
	    echo 'no atheris for this Python: hypothesis makes the files up'; \
	python -m tests.fuzz $(SECONDS_EACH)

.PHONY: outcomes
outcomes: tools env ## test the table of outcomes in all flows and capture modes, with all printed commands
	@$(ACTIVATE); python -m pytest -n $(WORKERS) tests/sim/test_outcomes.py tests/sim/test_commands.py tests/sim/test_sample.py \
	    tests/unit/capture/simulations/test_regression.py tests/unit/capture/simulations/test_simulation.py \
	    tests/sim/test_docs.py tests/sim/test_ingest.py tests/sim/test_invariants.py tests/sim/test_other_flows.py tests/sim/test_strict_logs.py \
	    tests/integration/test_companions.py tests/integration/test_gate.py \
	    tests/integration/test_farm.py tests/integration/test_mcp.py tests/integration/test_task_pages.py

.PHONY: truth
truth: tools env ## test the table of statements on fixes, commits, counts, causes, origins and commands
	@$(ACTIVATE); python -m pytest -n $(WORKERS) tests/sim/test_truth.py tests/sim/test_configurations.py \
	    tests/unit/wiki/test_same_check.py tests/unit/wiki/test_increments.py tests/unit/librarian/test_guards.py \
	    tests/survival/test_pushes.py

.PHONY: lint
lint: env ## check with ruff and mypy, and check the import layers and change notes
	@$(ACTIVATE); ruff check; ruff format --check; mypy; lint-imports; \
	towncrier build --draft --version next >/dev/null

.PHONY: bench
bench: env ## measure the cost of the plugin, the speed of log reading, and the wiki as it grows
	@$(ACTIVATE); python tests/bench/overhead.py; python tests/bench/session.py; python tests/bench/scan.py; python tests/bench/scale.py; \
	python tests/bench/report.py; python tests/bench/farm.py; python -m tests.bench_agents

.PHONY: survive
survive: env ## test a thousand kills, a full disk, many writers at once, pushes of CI jobs, 10 GB of output; an hour
	@$(ACTIVATE); (cd tests; python -m survival; python -m survival.pushes); \
	python -m pytest -m further_mode tests/integration/test_faults.py

.PHONY: docs
docs: env ## write the generated parts of the documentation, and build its site in build/site
	@$(ACTIVATE); python docs/generate.py; python -m sphinx -q -W --keep-going docs build/site

.PHONY: examples
examples: tools env ## run the examples of the documentation, and write their output into it
	@$(ACTIVATE); python -m tests.sim.pages; \
	DVWIKI_WRITE_DOCS=1 python -m pytest -q tests/unit/test_secret_places.py

.PHONY: clean
clean: ## remove all created files, .venv included
	rm -rf .venv build dist .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf sample_tb/sim_build sample_tb/.pytest_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Tools that no Python package installs.
.PHONY: tools
tools:
	@missing() { echo "$$1 is missing: install it, on Debian with 'apt-get install $$2'" >&2; exit 1; }; \
	command -v git >/dev/null || missing git git; \
	if [ "$(SIMULATOR)" = icarus ]; then \
	    command -v iverilog >/dev/null || missing 'iverilog, which SIM=icarus asks for,' iverilog; \
	else \
	    command -v perl >/dev/null || missing 'perl, which Verilator needs,' perl; \
	    command -v g++ >/dev/null || missing 'a C++ compiler (g++), which Verilator needs,' g++; \
	fi

# Installs only if pyproject.toml has changed since the last installation.
.PHONY: env
env:
	@if [ -n "$(VIRTUAL_ENV)" ] && [ ! -x $(PY) ]; then \
	    echo 'VIRTUAL_ENV is $(VIRTUAL_ENV), which has no bin/python: deactivate it' >&2; exit 1; \
	fi; \
	if [ ! -x $(PY) ]; then \
	    python=; \
	    for name in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	        if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$name; break; fi; \
	    done; \
	    if [ -z "$$python" ]; then \
	        echo "Python 3.11 or newer is missing: install it, on Debian 12 with 'apt-get install python3 python3-venv'" >&2; \
	        exit 1; \
	    fi; \
	    echo "making .venv with $$("$$python" --version)"; \
	    "$$python" -m venv .venv || { \
	        rm -rf .venv; \
	        echo "$$python cannot make a virtual environment: install its venv, on Debian with 'apt-get install python3-venv'" >&2; \
	        exit 1; \
	    }; \
	fi; \
	if ! cmp -s pyproject.toml $(STAMP); then \
	    $(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	        echo 'the active environment has '"$$($(PY) --version)"', Python 3.11 or newer is needed: deactivate it' >&2; exit 1; \
	    }; \
	    echo 'installing pytest-dvwiki with what its demo and tests need: minutes, the first time'; \
	    $(PY) -m pip install -qq --disable-pip-version-check --editable '.[demo,dev,docs]'; \
	    [ -n "$$($(PY) -m find_libpython)" ] || { \
	        echo "cocotb needs Python's shared library: install it, on Debian with 'apt-get install libpython3-dev'" >&2; exit 1; \
	    }; \
	    $(PY) -m pip install -qq --disable-pip-version-check --no-deps --upgrade --target "$(VENV)/companions" \
        $$($(PY) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["companions"])'); \
    cp pyproject.toml $(STAMP); \
	fi
