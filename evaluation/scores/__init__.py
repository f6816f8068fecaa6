"""Scores: stored steps judged, counted, broken down and laid out as tables."""
