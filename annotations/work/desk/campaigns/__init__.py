"""Campaigns: their rules and guidelines, giving out work by name, the bin.

May import `access`, `models`, `text`, `work/desk/measure` and `work/desk/propose`.
"""
