"""Campaigns: their rules and guidelines, giving out work by name, how far it is, the bin.

May import `access`, `models`, `text` and `work/campaigns/propose`.
"""
