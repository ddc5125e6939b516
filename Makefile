# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1

.PHONY: demo test lint types check browser schemas recovery soak clean

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e '.[miniwob]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.core
	$(BIN)/python -m pip install --quiet -e '.[miniwob,plot,train,gguf,dev]'
	touch $@

# Playwright's own Chromium where it can be had, else the system's package.
browser: $(VENV)/.core
	$(BIN)/python -m cuadata.cli doctor --install

demo: $(VENV)/.core browser
	CUADATA=$(BIN)/cuadata bash examples/demo.sh

test: $(VENV)/.dev browser
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

check: test lint types

schemas: $(VENV)/.core
	$(BIN)/cuadata schema --write schemas

# 500 examples of failing and recovering from the gauntlet, with a picture sheet.
recovery: $(VENV)/.core browser
	$(BIN)/cuadata recover gauntlet --n 500 --out data/recovery --recordings runs/recovery

soak: $(VENV)/.dev browser
	$(BIN)/python -m pytest -q tests/soak --timeout 7200

clean:
	rm -rf $(VENV) build demo .mypy_cache .ruff_cache .pytest_cache
