"""Foreign pages are read here only, in processes that may be killed: questions as bytes in, answers as bytes out.

Core: imports `dom` and nothing of the database. May import `dom` and `dom/differences`.
"""
