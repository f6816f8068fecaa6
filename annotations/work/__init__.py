"""Annotation work, step by step, a room each: organise, decompose, rewrite, verify, release.

`desk` is what the steps share: who gets which item, the document that people write, and what is said about it. May
import `access`, `models`, `work/desk/write` and `work/verify`.
"""
