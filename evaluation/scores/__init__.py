"""Scores: stored steps are judged, counted, broken down and laid out as tables.

May import `metrics`, `metrics/weblinx`, `models`, `scanners` and all of `annotations` and `agents`.
"""
