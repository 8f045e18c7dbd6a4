# Everything needs Python 3.11 or newer and nothing else; `.venv` is made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Compiled code is cached per file; a change in one file must not leave another's cache stale.
COMPILED := src/alphanpi/network/compiled.py $(wildcard src/alphanpi/engine/*.py)
FRESH := $(VENV)/.compiled-sources
KERNELS := $(VENV)/.compiled-kernels

.PHONY: help setup demo test docs browser lint kernels bench reproduce clean

help:
	@echo "make demo    do the main job end to end, in about two minutes; leaves a page in runs/demo"
	@echo "make test    run every check: ruff, mypy, pytest"
	@echo "make docs    the documentation as a site, in site/"
	@echo "make bench   measure search speed"
	@echo "make reproduce  train and measure every agent of the results tables; takes hours, can be interrupted"
	@echo "make setup   create $(VENV) and install; done by the others as needed"
	@echo "make clean   remove $(VENV) and caches"

setup: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	@test -x $(BIN)/python || (echo "creating $(VENV)" && $(PYTHON) -m venv $(VENV))
	@echo "installing (PyTorch's CPU build is about 200 MB; this takes a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "torch==$$(sed -n 's/^torch==//p' constraints.txt)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev,docs,tensorboard,ray,proof]"
	@touch $@

$(FRESH): $(COMPILED) | $(INSTALLED)
	@find src -name '*.nbi' -delete -o -name '*.nbc' -delete
	@touch $@

# Otherwise every worker of the tests would compile the same, a minute each.
$(KERNELS): $(FRESH)
	@echo "compiling the search"
	@$(BIN)/alphanpi search hanoi HANOI 1 --simulations 2 >/dev/null
	@$(BIN)/alphanpi report pretrained:hanoi --input 1 --simulations 2 --seconds 0 --verify-seconds 0 --no-export \
	  --json --out $@.json >/dev/null
	@rm $@.json
	@touch $@

kernels: $(KERNELS)

demo: $(INSTALLED) $(FRESH)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh

test: browser $(FRESH)
	@$(MAKE) --no-print-directory --jobs 2 lint kernels
	$(BIN)/python -m pytest -n 2 --dist loadfile

# The report page is tested in Chromium. Where we may install it, we do; elsewhere these tests are skipped and say so.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "installing Chromium for the tests of the report page" && \
	  { apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 || \
	    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; }; } || \
	  echo "Chromium could not be installed: tests of the report page will be skipped"; \
	else echo "no Chromium: tests of the report page will be skipped; apt-get install chromium"; fi

lint: $(INSTALLED) $(FRESH)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(INSTALLED)
	$(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

bench: $(INSTALLED) $(FRESH)
	$(BIN)/alphanpi bench search

reproduce: $(INSTALLED) $(FRESH)
	$(BIN)/python benchmarks/reproduce.py

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
