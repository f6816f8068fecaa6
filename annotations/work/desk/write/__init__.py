"""Write: the page on which a session is decomposed and rewritten, and the document behind it.

May import `access`, `corpus`, `dom`, `models`, `sandbox`, `text`, `work/decompose`, `work/desk`, `work/desk/edits`,
`work/desk/propose`, `work/desk/queue` and `work/rewrite`.
"""
