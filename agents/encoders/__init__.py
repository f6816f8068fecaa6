"""Encoders: where weights lie, texts into vectors in batches, and what to do when memory runs out. Core.

Imports no other room.
"""
