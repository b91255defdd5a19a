"""What `posenc.lab` measured and trained (`data`) and what `posenc.check` compares with (`recorded`): data, no code."""
