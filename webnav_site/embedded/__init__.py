"""The embedded PostgreSQL and Redis below `var/`: prepared, started, ended, and PostgreSQL's own tools.

May import all of `annotations`.
"""
