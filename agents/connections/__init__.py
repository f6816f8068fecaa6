"""Endpoints as people set them up: their pages, API, and the test that finds out what one can do.

May import `llm`, `models` and all of `annotations`.
"""
