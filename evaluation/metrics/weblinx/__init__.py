"""WebLINX's own metrics, of an action, a turn and a ranking, and their means by group. Core.

May import `agents/weblinx` and `annotations/dom`.
"""
