"""Probes of what a model knows of where actions lead: the true next page of two, the action of ten with and without
what is expected of each, and how much of a true difference is foretold.

May import `metrics`, and all of `agents` and `annotations`.
"""
