"""The questions with their solutions: for the instructor, and not installed with posenc."""
