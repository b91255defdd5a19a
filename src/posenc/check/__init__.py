"""Public checks for the four assignments: ``from posenc.check import assignment_2 as check``, then ``check.q1(f)``.

A check calls your function with a few inputs, compares what comes back with the right values, and says which
likely mistake fits where they differ. Grading runs the same checks on other inputs, outside the notebook.
"""
