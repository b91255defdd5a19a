"""Positional encodings for Transformers, exact enough to prove things with and fast enough to train with.

Import what you need: `posenc.frequencies`, `absolute`, `rotary`, `scaling`, `attention`, `bias`, `analysis`, `configs`
and `figures` work on NumPy arrays and torch tensors; `posenc.schemes`, `transformer`, `lab` and `check` need torch;
`posenc.widgets` are the explorables.
"""
