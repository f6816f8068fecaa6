"""Campaigns: their rules and guidelines, giving out work by name, the bin."""
