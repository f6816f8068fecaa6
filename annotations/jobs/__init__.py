"""Background jobs that people start: running them in slices, uploads, their pages and API.

May import the corpus that they read and write; annotation work and releases add runners of their own.
"""
