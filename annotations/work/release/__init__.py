"""Release: what verifiers have accepted becomes a conversation of the target dataset.

`annotations/releases` freezes versions of any dataset. May import `corpus` and `models`.
"""
