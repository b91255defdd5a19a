"""The questions with their solutions: for the instructor, and not installed with posenc.

A file holds one assignment whole, since its questions share what they draw, and are read with its notebook.
"""
