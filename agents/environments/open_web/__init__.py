"""Websites of others: any address on the hosts that OPEN_WEB_HOSTS names. Nothing is reached where it names none. Core.

`hosts` says which may be reached, `door` is the only way out of the browser, `manners` keeps robots.txt and a pace.
May import `environments`.
"""
