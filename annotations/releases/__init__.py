"""Releases: what is checked before a dataset is frozen, the frozen version, and differences between versions.

May import `access`, `corpus`, `corpus/browse`, `datasets`, `dom`, `jobs`, `models`, `models/accounts`, `models/corpus`,
`models/releases`, `pages`, `sandbox`, `tell`, `text` and `work/verify`.
"""
