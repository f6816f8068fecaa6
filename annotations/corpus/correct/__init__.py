"""Gold, wording and cuts that somebody found wrong: asked for, proposed and decided by two people; pages and API.

May import `access`, `corpus`, `datasets`, `dom`, `models`, `models/accounts`, `models/corpus`, `models/work`, `pages`,
`sandbox` and `text`.
"""
