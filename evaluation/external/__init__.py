"""Predictions that were made elsewhere: read, checked, scored with the same metrics.

May import `metrics`, `models` and all of `annotations` and `agents`.
"""
