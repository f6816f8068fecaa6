"""Imported data in the database: its only writer, exports, statistics, splits, and their pages and API.

May import `access`, `corpus/browse`, `corpus/correct`, `datasets`, `datasets/weblinx`, `dom`, `models`,
`models/accounts`, `models/corpus`, `models/releases`, `pages` and `sandbox`.
"""
