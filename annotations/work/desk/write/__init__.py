"""Write: the page on which a session is decomposed and rewritten, and the document behind it.

May import `access`, `corpus`, `dom`, `models`, `sandbox`, `text`, `work/campaigns/propose`,
`work/campaigns/queue`, `work/decompose`, `work/desk`, `work/edits` and `work/rewrite`.
"""
