"""Predictions that were made elsewhere: reading and checking them, and scoring them with the metrics of studies.

May import `metrics`, `metrics/weblinx`, `models` and all of `annotations` and `agents`.
"""
