"""Texts: differences, three-way merging, sentences and clauses, words that are alike, guidelines as blocks. Core:
strings in, strings out. Imports no other room."""
