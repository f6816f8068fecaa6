"""Organise: which single tasks become one conversation.

May import `access`, `campaigns`, `campaigns/propose`, `desk`, `models`, `models/accounts` and `text`.
"""
