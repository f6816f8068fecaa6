"""Measure: progress, agreement between people, hidden gold items. Numbers only, no pages.

May import `models` and `text`.
"""
