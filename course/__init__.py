"""The grader: makes the assignments' student versions, and grades folders of submissions. Not part of posenc."""
