"""Pages as lxml trees keyed by backend node id: parse, prune, render, describe. Core: no Django.

Imports no other room.
"""
