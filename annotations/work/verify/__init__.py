"""Verify: a person judges what another made; agreement, and feedback on hidden gold items."""
