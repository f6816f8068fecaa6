"""The judgement: studies that run agents over data, scores with intervals, reports beside the papers' numbers.

Imports `agents` and `annotations`. The order of its wings stands in `tests/test_imports.py`.
"""
