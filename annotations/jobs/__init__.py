"""Background jobs that people start: running them in slices, uploads, their pages and API.

May import `access`, `corpus`, `corpus/browse`, `datasets`, `hosts`, `models`, `models/accounts`, `models/jobs`,
`models/releases`, `monitor` and `storage`.
"""
