"""Verify: a person judges what another made; agreement, and feedback on hidden gold items.

May import `access`, `models`, `text`, `work/desk`, `work/desk/edits`, `work/desk/measure`, `work/desk/queue` and
`work/desk/write`.
"""
