"""Rows of background work: jobs, the leases by which workers hold them, and the register of workers.

May import `hosts`, `models`, `models/accounts`, `models/corpus`, `monitor` and `storage`.
"""
