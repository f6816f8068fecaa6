"""Discuss: comments beside the work, mentions, the inbox.

May import `access`, `models`, `tell` and `work/desk/write`.
"""
