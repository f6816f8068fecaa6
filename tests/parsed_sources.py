"""Syntax trees of the product's modules, for tests that ask all of them."""

import ast
from functools import cache


@cache
def parsed(source: str) -> ast.Module:
    """Of one text; parsing those of all modules takes a second, and a file of tests asks for them five times."""
    return ast.parse(source)
