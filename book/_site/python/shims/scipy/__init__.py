"""The three functions of SciPy that the book's own code calls, in a page: SciPy has no wheel for it."""
