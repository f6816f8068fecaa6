"""Imported data in the database: its only writer, exports, statistics, splits, and their pages and API.

May import `access`, `datasets`, `dom`, `models`, `pages`, `sandbox` and `text`.
"""
