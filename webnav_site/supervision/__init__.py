"""Keeps the app's processes running: `supervisord` over the Procfile, and a guard over it and the servers.

May import `embedded` and all of `annotations`.
"""
