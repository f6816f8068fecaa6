"""Environments, episodes in them, and what they come to."""
