"""Organise: which single tasks become one conversation.

May import `models`, `text`, `work/desk`, `work/desk/campaigns`, `work/desk/edits` and `work/desk/propose`.
"""
