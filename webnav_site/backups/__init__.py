"""Backup and restore: one sealed archive of database, files, models and secrets.

May import all of `annotations` and `agents`.
"""
