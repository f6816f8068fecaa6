"""Rows of the data: datasets, conversations with turns and steps, their pages, candidates, rationales and files.

May import `datasets`, `models` and `models/accounts`.
"""
