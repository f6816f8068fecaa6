"""Organise: which single tasks become one conversation.

May import `access`, `models`, `text`, `work/campaigns`, `work/campaigns/propose` and `work/desk`.
"""
