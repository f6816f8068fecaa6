"""Backup and restore: one sealed archive of database, files, models and secrets.

May import `embedded` and all of `agents` and `annotations`.
"""
