# Names for what one does here. Python 3.11 or newer and make are needed beforehand, and for the tests Chromium.

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up

.DEFAULT_GOAL := help
.PHONY: help setup run run-llm test suite crash model soak test-llm lint format package clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## make or renew the virtualenv; the other targets do it by themselves

$(STAMP): requirements.txt requirements-edge.txt requirements-dev.txt clients/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -e clients
	$(BIN)/python -c 'from infra.package import ROOT, wheels; wheels(); wheels(ROOT / "requirements-edge.txt")'
	@touch $@

run: setup ## the local cloud on 127.0.0.1:8787; ARGS="--data DIR" keeps its data
	$(BIN)/python -m infra.local $(ARGS)

run-llm: setup ## the same on a small real language model, built once (minutes)
	$(BIN)/python -m infra.llm -- $(BIN)/python -m infra.local $(ARGS)

test: setup ## everything that the build server asks for: lint, and the suite beside it
	@$(MAKE) --no-print-directory -j 2 lint suite

suite: setup ## the tests without lint
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(ARGS)

crash: setup ## kill a worker at every one of its AWS calls, and processes fifty times; minutes
	CRASH_POINTS=all $(BIN)/python -m pytest -n 2 -rP tests/crash tests/usecases/test_archive.py tests/usecases/test_delete_run.py $(ARGS)

model: setup ## the model checker with wider bounds: eight million states, twenty minutes
	MODEL=whole $(BIN)/python -m pytest -q -s tests/model/test_protocol.py $(ARGS)

soak: setup ## five hundred runs, fifty at a time, lines cut and runs cancelled; minutes
	$(BIN)/python -m bench.soak $(ARGS)

test-llm: setup ## the whole path on the real language model; slow, not part of test
	$(BIN)/python -m infra.llm -- $(BIN)/python -m pytest -m llm $(ARGS)

lint: setup ## formatting, rules, arrows between the rooms, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

format: setup ## let ruff put it right
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

package: setup ## what is deployed, into infra/build
	$(BIN)/python -m infra.build $(ARGS)

clean: ## remove what can be made again; the virtualenv and .pawl stay
	rm -rf infra/build .chalice/deployments .chalice/deployed .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
