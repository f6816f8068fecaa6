"""Campaigns: their rules and guidelines, giving items to people by name, progress, and the bin.

May import `access`, `campaigns/propose`, `models`, `models/accounts`, `models/work` and `text`.
"""
