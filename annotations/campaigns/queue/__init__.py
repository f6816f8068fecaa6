"""The queue: who gets which item next, leases, and why there is none.

May import `access`, `models`, `models/accounts`, `models/work` and `text`.
"""
