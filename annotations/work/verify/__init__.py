"""Verify: a person judges what another made; agreement, and feedback on hidden gold items.

May import `access`, `models`, `text`, `work/campaigns/queue`, `work/desk`, `work/desk/write` and
`work/edits`.
"""
