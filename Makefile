# Every target is also a plain command: CONTRIBUTING.md lists them.

PYTHON ?= python3
VENV ?= .venv
# processes that test or train: as many as there are cores, each with up to 2 GB
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n < 2 ? 2 : n > 8 ? 8 : n)))
PORT ?= 8000
BIN = $(VENV)/bin/python

.DEFAULT_GOAL := help
OPTIONS ?=
.PHONY: help environment book test check browsers page slides lab lab-results serve clean bench release address

help::
	@echo "make environment"
	@echo "               set up the environment alone; what needs it does so too"
	@echo "make book      build the website into _build/html"
	@echo "make test      run every test"
	@echo "make check     run the quality gates that need no built book"
	@echo "make browsers  try the website in Firefox and WebKit, before a release (OPTIONS=firefox tries one)"
	@echo "make page      run every chapter's code in its page (OPTIONS=03 runs one)"
	@echo "make lab       open JupyterLab on the notebooks"
	@echo "make serve     serve the built website on this machine (PORT=8000)"
	@echo "make bench     measure speed (OPTIONS=site measures the site alone)"
	@echo "make lab-results"
	@echo "               train and measure the laboratory's models anew (hours)"
	@echo "make release   pack the website and the package's wheel into _build/release"
	@echo "make clean     remove everything that was built"
	@echo "make address URL=https://github.com/OWNER/REPOSITORY"
	@echo "               set the repository's address everywhere"
	@echo "make slides    write slides of every chapter (OPTIONS=05 writes one)"
	@echo
	@echo "PYTHON=… chooses the Python (3.11 or newer), VENV=… the environment's folder, WORKERS=… how many processes"
	@echo "test and train (as many as there are cores, from 2 to 8)."

environment:
	@command -v "$(PYTHON)" > /dev/null || { \
	  echo "There is no $(PYTHON) here: install Python 3.11 or newer, or name one with PYTHON=…" >&2; exit 1; }
	@"$(PYTHON)" tools/environment.py --venv "$(VENV)"

book: environment
	@"$(BIN)" -m tools.book


# Now and then Chromium draws no more of a page: such a test runs once more, and the table counts it
AGAIN = --reruns 1 --only-rerun "^TimeoutError: .*(drew no frame|Timeout [0-9]+ms exceeded)"

test: environment
	@"$(BIN)" -m tools.chromium
	@"$(BIN)" -m tools.book
	@echo "Running every test, $(WORKERS) processes …"
	@# with several processes, torch's further threads would only wait for each other
	@OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} "$(BIN)" -m pytest --cov --cov-report=term -n $(WORKERS) --dist loadgroup \
	  --no-loadscope-reorder --durations=10 $(AGAIN) tests

check: environment
	@"$(BIN)" -m tools.gates

browsers: environment
	@echo "Installing what drives the browsers (a few MB) …"
	@"$(BIN)" -m pip install --quiet -c constraints.txt -r release/browsers/requirements.txt
	@"$(BIN)" -m tools.book
	@"$(BIN)" -m release.browsers $(OPTIONS)

page: environment
	@"$(BIN)" -m tools.chromium
	@"$(BIN)" -m tools.book
	@"$(BIN)" -m tests.book.python $(OPTIONS)

slides: environment
	@"$(BIN)" -m tools.book
	@"$(BIN)" -m tools.slides $(OPTIONS)

lab: environment
	@echo "Opening JupyterLab on notebooks/ (stop it with Ctrl-C) …"
	@"$(BIN)" -m jupyterlab notebooks

lab-results: environment
	@"$(BIN)" -m posenc.lab all --workers "$(WORKERS)"
	@"$(BIN)" -m posenc.lab collect


serve: environment
	@"$(BIN)" -m tools.serve --port "$(PORT)"

bench: environment
	@"$(BIN)" -m tools.chromium
	@echo "Installing the libraries to compare with (a few MB) …"
	@"$(BIN)" -m pip install --quiet --no-deps -r release/benchmarks/requirements.txt
	@"$(BIN)" -m tools.book
	@"$(BIN)" -m release.benchmarks $(OPTIONS)

release: book
	@"$(BIN)" -m tools.release

address: environment
	@"$(BIN)" -m tools.address "$(URL)"

-include course/course.mk

clean:
	@echo "Removing _build and the tools' caches (the environment $(VENV) stays) …"
	@rm -rf _build build .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
