"""The sample dataset: conversations written for this project over six invented websites.

May import `campaigns/propose`, `corpus`, `datasets`, `datasets/weblinx`, `desk`, `dom`, `edits`, `jobs`, `models`,
`models/accounts`, `releases`, `sample/sites/brightrail`, `sample/sites/casaverde`, `sample/sites/fernandfell`,
`sample/sites/harbourcity`, `sample/sites/nordline`, `sample/sites/willowclinic`, `work/organise` and `work/verify`.
"""
