"""Organise: which single tasks become one conversation.

May import `access`, `models`, `text`, `work/desk`, `work/desk/campaigns` and `work/desk/propose`.
"""
