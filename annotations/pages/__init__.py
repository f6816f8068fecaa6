"""Recorded pages: the snapshot store and the second origin that serves them.

May import `access`, `datasets`, `dom`, `models`, `models/corpus` and `sandbox`.
"""
