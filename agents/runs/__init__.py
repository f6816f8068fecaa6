"""Runs: recipes into pipelines, pipelines over recorded conversations, live events, their pages and exports.

May import every stage; stages never import it.
"""
