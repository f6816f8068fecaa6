"""The sample's six invented websites as working sites, and its conversations as goals of several turns. Core.

`server` serves them, each on an origin of its own; `environment` acts on them in a browser. No site knows the database.
May import `environments` and `annotations/sample`.
"""
