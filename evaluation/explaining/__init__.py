"""Has a language model say why steps failed (`evaluation/scanners/asking.py`), where somebody asks for it.

May import `asking`, `models`, `scanners`, `scores` and all of `annotations` and `agents`.
"""
