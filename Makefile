# Everything needs Python 3.11 or newer and nothing else; `.venv` is made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Compiled code is cached per file; a change in one file must not leave another's cache stale.
COMPILED := src/alphanpi/compiled.py $(wildcard src/alphanpi/engine/*.py)
FRESH := $(VENV)/.compiled-sources

.PHONY: help setup demo test lint bench reproduce clean

help:
	@echo "make demo    do the main job end to end"
	@echo "make test    run every check: ruff, mypy, pytest"
	@echo "make bench   measure search speed"
	@echo "make reproduce  train and measure every agent of the results tables; takes hours, can be interrupted"
	@echo "make setup   create $(VENV) and install; done by the others as needed"
	@echo "make clean   remove $(VENV) and caches"

setup: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	@test -x $(BIN)/python || (echo "creating $(VENV)" && $(PYTHON) -m venv $(VENV))
	@echo "installing (PyTorch's CPU build is about 200 MB; this takes a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "torch==$$(sed -n 's/^torch==//p' constraints.txt)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev,tensorboard]"
	@touch $@

$(FRESH): $(COMPILED) | $(INSTALLED)
	@find src -name '*.nbi' -delete -o -name '*.nbc' -delete
	@touch $@

demo: $(INSTALLED) $(FRESH)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(INSTALLED) $(FRESH)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(INSTALLED) $(FRESH)
	$(BIN)/alphanpi bench search

reproduce: $(INSTALLED) $(FRESH)
	$(BIN)/python benchmarks/reproduce.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
