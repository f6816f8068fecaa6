"""The sample dataset: conversations written for this project over six invented websites.

May import `corpus`, `datasets`, `dom`, `jobs`, `models`, `releases`, `sample/sites/brightrail`,
`sample/sites/casaverde`, `sample/sites/fernandfell`, `sample/sites/harbourcity`, `sample/sites/nordline`,
`sample/sites/willowclinic`, `work/desk`, `work/edits`, `work/campaigns/propose`, `work/organise` and `work/verify`.
"""
