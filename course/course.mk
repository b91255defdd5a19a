# The course's targets, which the Makefile includes where course/private is there. course/README.md says what they do.

# the grader's sandbox, on Linux
SANDBOX = $(if $(filter Linux,$(shell uname)),bubblewrap)

.PHONY: test-course submissions assignments grade gradescope folder student-copy

# a smoke of the course is among the tests of every change, and its types among the checks
test check: GROUPS = course test

help::
	@echo
	@echo "make test-course"
	@echo "               test the grader, its questions and its sandbox"
	@echo "make assignments"
	@echo "               write the assignments' student versions from their sources (SEED=name writes a variant)"
	@echo "make grade SUBMISSIONS=folder"
	@echo "               grade a folder of submissions (OPTIONS=… adds to the command)"
	@echo "make gradescope ASSIGNMENT=2"
	@echo "               write an assignment's autograder for Gradescope"
	@echo "make student-copy FOLDER=folder"
	@echo "               write a copy of the repository without the solutions, for students and for the public"

assignments grade gradescope student-copy: GROUPS = course

test-course: environment
	@"$(PYTHON)" tools/system_packages.py chromium $(SANDBOX)
	@$(PYTEST) -m "not release" course/tests

assignments: environment
	@"$(BIN)" -m course.sources $(if $(SEED),--seed "$(SEED)")

submissions:
	@test -n "$(SUBMISSIONS)" || { echo "Name a folder: make grade SUBMISSIONS=folder" >&2; exit 1; }

grade: submissions environment
	@"$(BIN)" -m course "$(SUBMISSIONS)" $(OPTIONS)

gradescope: environment
	@"$(BIN)" -m course.gradescope $(ASSIGNMENT)

folder:
	@test -n "$(FOLDER)" || { echo "Name a folder that is not there yet: make student-copy FOLDER=folder" >&2; exit 1; }

student-copy: folder environment
	@"$(BIN)" -m course.student_copy "$(FOLDER)"
