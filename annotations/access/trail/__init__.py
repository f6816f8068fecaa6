"""The trail of access: who came in, and got or lost which right. It is written where that happens, and read here.

May import `access` and `models`.
"""
