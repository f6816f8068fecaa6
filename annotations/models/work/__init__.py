"""Rows of annotation: campaigns, sessions, items and who works on them, what they wrote, judged, said and corrected.

May import `models`, `models/accounts`, `models/corpus` and `text`.
"""
