"""Reports: scores as the papers print them, beside the published numbers.

May import `metrics`, `models`, `scores` and all of `annotations` and `agents`.
"""
