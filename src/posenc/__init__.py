"""Positional encodings for Transformers, exact enough to prove things with and fast enough to train with."""
