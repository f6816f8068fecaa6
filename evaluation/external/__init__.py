"""Predictions that were made elsewhere: read, checked, scored with the same metrics."""
