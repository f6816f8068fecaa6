"""Proposals, by rules or by models: groups of tasks, cuts of a session, rewrites; and how good they turned out.

May import `access`, `datasets`, `edits`, `jobs`, `models`, `models/accounts`, `models/work`, `text`, `work/decompose`
and `work/rewrite`.
"""
