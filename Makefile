# Every target runs a command of Python; CONTRIBUTING.md says which to use when.

PYTHON ?= python3
VENV ?= .venv
# processes that test or train: as many as there are cores, each with up to 2 GB
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n < 2 ? 2 : n > 8 ? 8 : n)))
PORT ?= 8000
BIN = $(VENV)/bin/python

.DEFAULT_GOAL := help
OPTIONS ?=
.PHONY: help environment book test check test-release page slides gallery embed lab lab-results serve clean bench \
  pictures release address

help::
	@echo "make book      set up a local environment and build the website into _build/html"
	@echo "make test      run the tests of every change (after make book: about eight minutes on two cores)"
	@echo "make check     format, rules, types, spelling and links: a minute, and no built book"
	@echo "make test-release"
	@echo "               run everything, before a release (hours); OPTIONS=mutants runs one part"
	@echo "make page      run every chapter's code in its page (OPTIONS=03 runs one)"
	@echo "make lab       open JupyterLab on the notebooks"
	@echo "make gallery   write a page with every explorable at three widths (OPTIONS=DecayExplorer writes one)"
	@echo "make embed NAME=Playground"
	@echo "               write an explorable as one HTML file, for a lecture or a blog, into _build/embed"
	@echo "make serve     serve the built website on this machine (PORT=8000)"
	@echo "make bench     measure speed (OPTIONS=site measures the site alone)"
	@echo "make lab-results"
	@echo "               train and measure the laboratory's models anew (hours)"
	@echo "make pictures  put pictures of the explorables into the built pages, for readers without JavaScript"
	@echo "make release   the same, print the book as a PDF, and pack both and the packages' wheels into _build/release"
	@echo "make clean     remove everything that was built"
	@echo "make address URL=https://github.com/OWNER/REPOSITORY"
	@echo "               set the repository's address everywhere"
	@echo "make slides    write slides of every chapter (OPTIONS=05 writes one)"
	@echo
	@echo "PYTHON=… chooses the Python (3.11 or newer), VENV=… the environment's folder, WORKERS=… how many processes"
	@echo "test and train (as many as there are cores, from 2 to 8)."

# what a command needs besides the group `book`: GROUPS is set where the target is
environment:
	@command -v "$(PYTHON)" > /dev/null || { \
	  echo "There is no $(PYTHON) here: install Python 3.11 or newer, or name one with PYTHON=…" >&2; exit 1; }
	@"$(PYTHON)" tools/environment.py --venv "$(VENV)" $(GROUPS)

test check page bench pictures: GROUPS = test
test-course: GROUPS = course test
test-release release: GROUPS = release
slides lab: GROUPS = lab

book: environment
	@"$(BIN)" -m tools.book

# Now and then Chromium draws no more of a page: such a test runs once more, and the table counts it
AGAIN = --reruns 1 --only-rerun "^TimeoutError: .*(drew no frame|not complete within|Timeout [0-9]+ms exceeded)"
# with several processes, torch's further threads would only wait for each other
PYTEST = OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} "$(BIN)" -m pytest -n $(WORKERS) --dist loadgroup \
  --no-loadscope-reorder --durations=10 $(AGAIN)

# What only the system's packages bring is installed where that needs no password.
test: environment
	@"$(PYTHON)" tools/system_packages.py chromium $(SANDBOX)
	@"$(BIN)" -m tools.book
	@echo "Running the tests of every change, $(WORKERS) processes …"
	@$(PYTEST) -m "not release" tests

check: environment
	@"$(BIN)" -m tools.gates

test-release: environment
	@"$(PYTHON)" tools/system_packages.py chromium firefox webkit xvfb $(SANDBOX)
	@"$(BIN)" -m tools.book
	@"$(BIN)" -m release --workers $(WORKERS) $(OPTIONS)

page: environment
	@"$(PYTHON)" tools/system_packages.py chromium
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

gallery: environment
	@"$(BIN)" -m tools.gallery $(OPTIONS)

embed: environment
	@"$(BIN)" -m tools.embed $(NAME)

serve: environment
	@"$(BIN)" -m tools.serve --port "$(PORT)"

bench: environment
	@"$(PYTHON)" tools/system_packages.py chromium
	@"$(BIN)" -m tools.book
	@"$(BIN)" -m release.benchmarks $(OPTIONS)

pictures: environment
	@"$(PYTHON)" tools/system_packages.py chromium
	@"$(BIN)" -m tools.book
	@"$(BIN)" -m tools.pictures

release: environment
	@"$(PYTHON)" tools/system_packages.py chromium
	@"$(BIN)" -m tools.book
	@"$(BIN)" -m tools.pictures
	@"$(BIN)" -m tools.release $(TAG)

address: environment
	@"$(BIN)" -m tools.address "$(URL)"

# the grader, where its questions and their answers are: not in a public copy
-include $(if $(wildcard course/private),course/course.mk)

clean:
	@echo "Removing _build and the tools' caches (the environment $(VENV) stays) …"
	@rm -rf _build build .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
