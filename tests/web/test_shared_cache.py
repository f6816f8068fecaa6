"""What the shared cache stores comes back as it was."""

import pytest

from webnav_site.shared_cache import JsonSerializer


@pytest.mark.parametrize("value", [3, "text", "", {"a": [1, None]}, b"", b"\x1f\x8b packed", b"\0", b"[1]"])
def test_a_value_comes_back_as_it_was(value) -> None:
    stored = JsonSerializer().dumps(value)
    assert JsonSerializer().loads(str(stored).encode() if isinstance(stored, int) else stored) == value
