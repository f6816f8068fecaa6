"""The page on which a session is decomposed and rewritten, and the document behind it. The page takes, keeps and gives
back its item itself: the lease lies in `campaigns/queue`, and nobody else asks for it.

May import `access`, `campaigns/propose`, `campaigns/queue`, `corpus/browse`, `desk`, `dom`, `edits`, `models`,
`models/accounts`, `sandbox`, `text`, `work/decompose` and `work/rewrite`.
"""
