"""Texts: differences, three-way merging, guidelines as blocks. Core: strings in, strings out. Imports no other room."""
