"""Prompt packs: every text that a model reads, by name (`catalogue.py`), in a versioned pack (`packs.py`).

The packaged pack `webnav` lies in files, one a text; people's packs are rows (`agents.models.prompts`). Imports no
other room.
"""
