"""The desk: the page on which a session is decomposed and rewritten, its keys, and the comments beside it.

`moving_on` takes work from one step to the next.

May import `campaigns/propose`, `edits`, `models`, `models/accounts`, `tell`, `work/release` and `work/rewrite`.
"""
