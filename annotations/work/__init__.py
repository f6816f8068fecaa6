"""Annotation work: who gets which item, what they make of it, who checks it, and what is said about it."""
