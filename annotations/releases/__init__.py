"""Releases: what is checked before a dataset is frozen, the frozen version, and differences between versions."""
