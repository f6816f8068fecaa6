"""Verify: a person judges what another made, or makes one of two versions; agreement, and feedback on hidden gold
items.

May import `access`, `campaigns/queue`, `desk`, `desk/write`, `edits`, `models`, `models/accounts`, `models/work`,
`tell` and `text`.
"""
