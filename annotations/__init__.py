"""The data: conversations, the pages they went through, and the people who make both right.

Imports nothing of the other apps. Its wings are listed lowest first in `tests/test_imports.py`; each imports those
before it only.
"""
