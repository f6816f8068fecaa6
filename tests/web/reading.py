"""Reading pages as they are shown."""

import re
from typing import Any

WHITESPACE = re.compile(r"[ \t\n\f\r]+")  # as HTML has it: a space that does not break is none


def source(response: Any) -> str:
    """The markup of a page with one space for each run of whitespace, and none at the end of a tag.

    How a template is laid out does not matter then.
    """
    assert response.status_code == 200, response.content[:300]
    return WHITESPACE.sub(" ", response.content.decode()).replace(" >", ">")
