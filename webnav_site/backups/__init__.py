"""Backup and restore: one sealed archive of database, files, models and secrets."""
