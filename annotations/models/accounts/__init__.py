"""Rows of people: projects and who belongs to them, tokens, the trail of access, requests that are answered once.

Imports no other room.
"""
