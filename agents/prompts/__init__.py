"""Prompt texts, one file each, and their renderer (`agents.prompts.render`)."""
