"""Proposals, by rules or by models: groups of tasks, cuts of a session, rewrites; and how good they turned out."""
