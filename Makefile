# make demo: install into .venv and run the demo.   make test: install the tools too and run all checks.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CORES ?= auto
MINUTES ?= 60
STARTER := ./packages/starter
# Hundreds of processes would each compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# A process a core already: threads would fight.
TESTS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m pytest -n $(CORES) --dist worksteal

.PHONY: help demo test test-fast lint docs bench golden soak clean

help:
	@echo "make demo   install isogloss into $(VENV) and run 'isogloss demo'"
	@echo "make test   install the development tools too; run ruff, mypy, import-linter and pytest"
	@echo "make test-fast   those tests that need no browser, no database and no cluster"
	@echo "make lint   the first three of those only"
	@echo "make docs   the documentation as a site, into build/site"
	@echo "make soak   the long tests: kills, changed files, hostile requests, an hour of service (docs/results/reliability.md)"
	@echo "make golden AGAINST=COMMIT   compare rankings, explanations, tokens and models with those of another commit"
	@echo "make bench  speed, side by side with peers (docs/results/speed.md)"
	@echo "make clean  remove $(VENV) and caches"

demo: $(VENV)/.core
	$(BIN)/isogloss demo

test: lint
	@echo "== pytest"
	$(TESTS)

test-fast: $(VENV)/.dev
	$(TESTS) --ignore tests/engines --ignore tests/end_to_end --ignore tests/docs

lint: $(VENV)/.dev
	@echo "== ruff"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@echo "== mypy"
	$(BIN)/mypy
	@echo "== import-linter"
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html; with search: $(BIN)/python -m http.server -d build/site 8001"

soak: $(VENV)/.dev
	$(BIN)/python tests/hostile/crashing.py --kills 200
	OPENBLAS_NUM_THREADS=1 ISOGLOSS_HOSTILE=10000 ISOGLOSS_FUZZ=3000 $(BIN)/python -m pytest -v -s --timeout 0 --durations=5 \
		tests/hostile tests/index/test_index_writer.py tests/index/test_index_care.py
	$(BIN)/python tests/hostile/soak.py --minutes $(MINUTES)

golden: $(VENV)/.dev
	@test -n "$(AGAINST)" || { echo "missing: the other commit (make golden AGAINST=HEAD~1)"; exit 1; }
	$(BIN)/python tools/make_golden.py --against $(AGAINST)

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/tokenizers.py
	$(BIN)/python benchmarks/bm25.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/vectors.py
	$(BIN)/python benchmarks/vector_search.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/serving.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/encoding.py

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "missing: $(PYTHON) (Debian: apt install python3 python3-venv)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "missing: Python 3.11 or newer ($(PYTHON) is older)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "missing: Python's venv module (Debian: apt install python3-venv)"; exit 1; }
	@echo "== making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt $(STARTER)/pyproject.toml | $(BIN)/python
	@echo "== installing isogloss into $(VENV)"
	@$(PIP) install --constraint constraints.txt --editable $(STARTER) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(STARTER)/pyproject.toml | $(BIN)/python
	@echo "== installing isogloss and the development tools into $(VENV)"
	@$(PIP) install --constraint constraints.txt --editable $(STARTER) --editable '.[dev]'
	@touch $@ $(VENV)/.core

$(VENV)/.bench: pyproject.toml constraints.txt $(STARTER)/pyproject.toml | $(BIN)/python
	@echo "== installing isogloss and the peers it is measured against into $(VENV)"
	@$(PIP) install --constraint constraints.txt --editable $(STARTER) --editable '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
