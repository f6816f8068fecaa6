"""Proposals, by rules or by models: groups of tasks, cuts of a session, rewrites; and how good they turned out.

May import `access`, `datasets`, `jobs`, `models`, `text`, `work/decompose`, `work/edits` and `work/rewrite`.
"""
