"""Organise: which single tasks become one conversation.

May import `access`, `campaigns`, `campaigns/propose`, `desk`, `dom`, `models`, `models/accounts`, `pages` and `text`.
"""
