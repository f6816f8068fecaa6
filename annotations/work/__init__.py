"""Annotation work, step by step, a room each: organise, decompose, rewrite, verify, release.

`desk` is what the steps share: who gets which item, the document that people write, and what is said about it. So the
page on which a session is decomposed and rewritten, its document and its API are in `desk/write` and `desk/edits`;
`decompose` and `rewrite` hold what the two steps know themselves: cuts, wording, warnings.

May import `access`, `models`, `work/desk/write` and `work/verify`.
"""
