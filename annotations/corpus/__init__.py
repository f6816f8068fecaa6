"""Imported data in the database: its only writer, exports, statistics, splits, and their pages and API.

May import formats, pages, rights and rows; knows nothing of jobs, annotation work or releases.
"""
