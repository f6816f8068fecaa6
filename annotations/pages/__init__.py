"""Recorded pages: the snapshot store and the second origin that serves them.

May import rows, rights and the sandbox that reads foreign pages.
"""
