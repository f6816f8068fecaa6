"""Who may sign in, and what they may see and do: `rules.py` says it, for pages, API, sockets and exports alike.

May import `access/sign_in`, `access/tokens`, `access/trail`, `access/tries`, `datasets`, `models`, `models/accounts`
and `storage`.
"""
