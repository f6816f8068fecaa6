"""Telling others what happened: events, webhooks to addresses outside, and the audit trail that the database writes.

May import `access`, `models`, `models/work` and `text`.
"""
