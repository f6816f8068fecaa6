"""Template filters and tags that show numbers, times and states, the same on every page."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from urllib.parse import urlencode

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotations.models.choices import MAX_REASON
from annotations.shown_progress import ago_text, span_text
from annotations.text.actions import in_words
from annotations.text.amounts import value_text, whole

register = template.Library()


@register.filter
def thousands(number: int | str | None) -> str:
    """12488 is "12,488"; nothing (None, or "" for what a template did not find) is "–"."""
    return f"{number:,}" if isinstance(number, int) else "–"


@register.simple_tag
def counted(number: int, address: str, filters: Mapping[str, str] | None = None, **more: str) -> str:
    """A number as a link to the rows that it counts, which the page at this address lists under these filters; the
    number alone without an address."""
    if not address:
        return thousands(number)
    query = urlencode({**(filters or {}), **more})
    return format_html('<a class="link" href="{}?{}">{}</a>', address, query, thousands(number))


@register.filter
def grouped(text: str) -> str:
    """A text that is a whole number, with separators: "16385" is "16,385"; any other as it is."""
    number = whole(text)
    return text if number is None else f"{number:,}"


@register.simple_tag
def longest_reason() -> int:
    """How many characters a reason, a note or a comment may have."""
    return MAX_REASON


@register.filter
def points(fraction: float | None) -> str:
    """A fraction in percent points with one decimal: 0.5634 is "56.3"."""
    return "–" if fraction is None else f"{100 * fraction:z.1f}"


@register.filter
def share(part: int, whole: int) -> str:
    """`part` of `whole` in percent points with one decimal; "–" of nothing."""
    return points(part / whole if whole else None)


@register.filter
def ratio(part: int, whole: int) -> str:
    """How many times `part` is of `whole`: "9.8×"; "–" for nothing."""
    return f"{part / whole:.1f}×" if whole else "–"


@register.filter
def span(seconds: float | None) -> str:
    return "–" if seconds is None else span_text(seconds)


@register.filter
def ago(when: datetime | None) -> str | SafeString:
    """How long ago, with the exact time as the title (the page's script turns it into the reader's clock)."""
    if when is None:
        return "–"
    exact = timezone.localtime(when).strftime("%Y-%m-%d %H:%M:%S %Z")
    return format_html('<time datetime="{}" title="{}">{}</time>', when.isoformat(), exact, ago_text(when))


@register.filter
def brief(needs: Iterable[str]) -> str:
    """What is missing, in a few words: of each need the part before its colon; how to get it stands after that."""
    return ", ".join(reason(need) for need in needs)


@register.filter
def reason(need: str) -> str:
    """The part of one need before its colon."""
    return need.partition(":")[0]


@register.filter
def listed(value: object) -> object:
    """A list of values as text, joined by commas; a single value as it is."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


@register.filter
def setting(value: object) -> str:
    """A value of a setting in words: "yes", "none"."""
    return value_text(value)


@register.filter
def action(representation: object) -> str:
    """An action as people read it: "CLICK Returns"."""
    return in_words(str(representation))


@register.inclusion_tag("_state.html")
def state(value: str, label: str = "") -> dict[str, str]:
    """A state as a coloured tag; its word alone says everything."""
    return {"value": value, "label": label or value.replace("_", " ").replace("done with", "done, with")}


@register.inclusion_tag("_bar.html")
def bar(live) -> dict:
    """A segmented progress bar of a `ShownProgress`."""
    done, failed, under_way = (round(1000 * part) for part in live.bar)
    return {"done": done, "failed": failed, "under_way": under_way, "second": done + failed, "first": done}


@register.filter
def as_stored(value: object) -> str:
    """A stored value as text: lists and objects as JSON, nothing as a dash."""
    if isinstance(value, str):
        return value
    return "–" if value is None else json.dumps(value, ensure_ascii=False, indent=2, default=str)
