"""Discussion beside the work: comments, mentions of people, the inbox.

May import `access`, `desk`, `desk/write`, `models`, `models/work`, `tell` and `text`.
"""
