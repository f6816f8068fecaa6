"""Annotation work, step by step, a room each: organise, decompose, rewrite, verify, release.

What more than one step needs is in three more: `edits`, what an edit says and how it is kept; `campaigns`, the rules of
the work, who gets which item and what is proposed for it; `desk`, the page on which a session is decomposed and
rewritten. `decompose` and `rewrite` hold what the two steps know themselves: cuts, wording, warnings.

May import `access`, `models`, `work/desk/write` and `work/verify`.
"""
