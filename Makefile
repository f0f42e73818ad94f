# `make demo` and `make test` need only Python ≥ 3.11, git and make; everything else goes into .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
PYTEST_ARGS ?=
UPGRADE ?=

.DEFAULT_GOAL := help
.PHONY: help demo serve test bench lint docs generate lock clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 16

$(READY): requirements.lock
	@scripts/setup $(PYTHON)
	@touch $@

demo: $(READY)  ## the main job on the bundled hospital table
	@$(BIN)/shoal demo --force

serve: $(READY)  ## the studio, on this machine: http://127.0.0.1:8080/
	@$(BIN)/shoal serve --home shoal-home

test: lint docs  ## everything that must pass: lint, types, import contracts, docs, tests
	@scripts/test-machine
	$(BIN)/pytest -m "not slow" --numprocesses 2 --dist loadfile $(PYTEST_ARGS)

bench: $(READY)  ## the benchmarks, as ratios
	$(BIN)/python -m benchmarks

lint: $(READY)  ## ruff, mypy, import contracts, declared dependencies
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry src

docs: $(READY)  ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

generate: $(READY)  ## the pages made from code: reference/techniques.md, standards.md, the table of the rooms, the JSON Schemas, the registry, notebooks, facts about places
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/standards.py
	$(BIN)/python scripts/house.py
	$(BIN)/python scripts/schemas.py
	$(BIN)/python scripts/registry_page.py
	$(BIN)/python scripts/notebooks.py
	$(BIN)/python scripts/geonames.py

lock:  ## the lock, from pyproject.toml (UPGRADE=--upgrade for the newest of everything)
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet --disable-pip-version-check uv
	build/lock/bin/uv pip compile pyproject.toml --quiet --extra all --group dev --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-header $(UPGRADE) --output-file requirements.lock > /dev/null
	rm -rf build/lock

clean:  ## everything that can be made again
	rm -rf .venv site build dist demo bench-data .servers .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
