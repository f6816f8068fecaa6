"""Tokens of programs: what each may do at the API and until when, and the page on which people make them.

May import `access` and `models`.
"""
