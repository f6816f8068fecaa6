"""Pages of datasets and of what is in them: conversations, and one step with its evidence, change and rationales.

May import `access`, `corpus`, `datasets`, `dom`, `models`, `pages`, `sandbox` and `text`.
"""
