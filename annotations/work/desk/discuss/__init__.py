"""Discuss: comments beside the work, mentions, the inbox.

May import `access`, `models`, `work/desk/tell` and `work/desk/write`.
"""
