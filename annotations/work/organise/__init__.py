"""Organise: which single tasks become one conversation."""
