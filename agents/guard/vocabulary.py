"""What the guard reads on controls: the words that tell of a risk, by its kind, and those that tell of none.

Core: data. A word is here by what it means: it does what the visitor cannot take back alone on the same page. They are
English alone. `tests/agents/test_guard_words.py` tries them on names of controls.
"""

import re
import unicodedata

_SPACES = re.compile(r"\s+")


def plain(text: str) -> str:
    """A text as it is compared: compatible letters are one (fullwidth ones), what cannot be seen is gone (soft hyphens,
    characters without width or that turn the direction), spaces in a row are one."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(one for one in text if unicodedata.category(one) != "Cf")
    return _SPACES.sub(" ", text).strip()


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)


OWN = "(?:the |my |your |our |this )?"
BINDING = "(?:subscription|membership|contract|plan|account|profile)"
CALLED_OFF = (
    f"(?:{BINDING}|order|booking|trip|appointment|reservation|ticket|flight|stay|visit|policy|transfer|payment)"
)
CARTS = "(?:cart|basket|bag|bin|trash)"

# Said on a control, each holds wherever the control stands.
ALWAYS: dict[str, re.Pattern[str]] = {
    "pay": _words(
        *(
            "pay now",
            "and pay",
            "buy now",
            "donate",
            "(?:transfer|send|wire|withdraw) (?:money|funds|cash)",
            "and subscribe",
        ),
        *(f"(?:confirm|authori[sz]e) {OWN}payment", f"(?:complete|finish) {OWN}(?:purchase|payment|checkout)"),
    ),
    "order": _words(
        *(f"(?:place|submit|complete) {OWN}order", "order now", "book now", f"place (?:a )?{OWN}bid", "and order"),
        *(f"complete {OWN}booking", "confirm (?:and|booking|order|purchase)"),
        *(
            f"sign {OWN}(?:contract|document|agreement|lease|petition)",
            f"accept {OWN}(?:offer|quote|contract|proposal)",
        ),
    ),
    "delete": _words(
        *("delete", "erase", "unsubscribe", f"(?:close|deactivate|terminate|end) {OWN}{BINDING}", "factory reset"),
        *(f"cancel {OWN}{CALLED_OFF}", f"empty {OWN}{CARTS}"),
    ),
    "publish": _words(
        "publish", "post (?:now|comment|reply|review)", "tweet", rf"make {OWN}(?:\w+ )?public", "go live"
    ),
}
# Said on a button, not on a link, these hold wherever it stands: nothing is left to be said or chosen after them.
ON_A_BUTTON: dict[str, re.Pattern[str]] = {
    "pay": _words(
        *(
            r"^(?:buy|purchase)$",
            rf"^pay(?: {OWN}\w+)?$",
            "^(?:buy|purchase) (?:this|these|it)",
            "^(?:pay|check ?out) (?:with|by|using|via)",
        ),
        *(
            f"^(?:renew|start|resume) {OWN}{BINDING}",
            "^(?:upgrade|renew|subscribe|bid) now",
            f"^settle {OWN}(?:invoice|bill|account)",
        ),
    ),
    "order": _words(
        *("^confirm", "^(?:book|reserve|order|rent|hire) (?:this|these|it)", "^(?:book|reserve|order|sign)$"),
        *("^approve", "^(?:rent|hire|reserve|enroll?) now"),
    ),
    "send": _words(
        *("^(?:send|submit)(?: (?:it|now))?$", f"^request (?:a |{OWN})refund", "^vote$", "^vote for"),
        f"^submit {OWN}(?:review|claim|application|request|answers?|form|return|vote|entry|proposal|complaint)",
    ),
    "delete": _words(
        "^(?:remove|wipe)",
        f"^leave {OWN}(?:group|team|organi[sz]ation)",
        "^(?:revoke|terminate|deactivate)",
        "^cancel (?:my|your|this|these)",
    ),
    "publish": _words("^post$"),
}
# Said on the button of a form; elsewhere such a button only opens one ("Ask the host", "Book a room" in a list).
IN_A_FORM: dict[str, re.Pattern[str]] = {
    "pay": _words(
        "pay",
        "buy",
        "purchase",
        "check ?out",
        "transfer",
        "withdraw",
        "deposit",
        "top up",
        "renew",
        "upgrade",
        "redeem",
        "add funds",
        "make (?:a )?(?:payment|donation)",
        rf"start {OWN}(?:free )?trial",
    ),
    "order": _words(
        *("order", "book", "reserve", "confirm", "move", "reschedule", "hire", "rent", "save changes", "bid"),
        *("accept", "agree", "approve", "sign(?! (?:in|up|out|on|off))", "enroll?"),
        f"complete {OWN}registration",
        "switch to (?:this|my)",
        "schedule (?:an? |my )?(?:appointment|visit|call|delivery|collection|viewing)",
    ),
    "send": _words(
        *("send", "email", "mail", "text me", "submit", "reply", "share", "invite", "report", "claim", "ask", "vote"),
        *(
            "request",
            "call me",
            "get (?:a |my )?quote",
            "rsvp",
            "forward",
            "refund",
            "nominate",
            "contact (?:the )?(?:seller|owner|host|agent|us)",
            "file (?:a |my )?(?:complaint|claim)",
        ),
    ),
    "delete": _words("remove", "unsubscribe", "revoke", "terminate", "deactivate", "clear (?:my )?(?:history|data)"),
    "publish": _words("post", "comment", "publish"),
    "personal": _words(
        *("save", "register", "sign up", "subscribe", "join", "apply (?:for|now|to)", "notify me", "upload"),
        r"set (?:an? |the |my )?(?:\w+ )?(?:reminder|alarm|alert|password|pin)",
        *("(?:create|open) (?:an? |my |your )?(?:account|profile)", f"verify {OWN}(?:identity|e-?mail|phone)"),
        f"(?:update|change) {OWN}(?:e-?mail|address|profile|phone|password|name|details|card|payment|account)",
    ),
}
OF_A_PRICE = _words(
    "pay",
    "buy",
    "purchase",
    "order",
    "book",
    "reserve",
    "rent",
    "hire",
    "subscribe",
    "transfer",
    "donate",
    "upgrade",
    "renew",
    "top up",
)
"""Said on a button together with a price, they hold wherever it stands."""
SLIDES = _words("(?:slide|swipe|drag|pull)")  # says what a slider does once it is pulled to its end
HARMLESS = _words(  # struck out of a name before words of risk are looked for
    *("orders? (?:by|history|details|status|number|summary|total|date)", "publish(?:ed|ing)? date", "post ?code"),
    f"save {OWN}(?:search|filters?|view|layout|draft)",
    "save (?:for later|as (?:a )?draft|to (?:list|wish ?list|favou?rites)|up to)",
    *(
        "remove (?:all )?(?:filters?|sorting|highlights?)",
        "accept (?:all )?cookies",
        "accept all",
        "book reviews?",
        "move (?:up|down|left|right)",
    ),
    *("report (?:type|date|period)", "(?:pay|payment) (?:monthly|methods?)", "cancel any ?time", "share price"),
)
HELPS = re.compile(  # the name of a link or text that tells of something, and does not do it
    r"^(?:how|what|why|when|where|who|can i|do i|learn|read|help|tips)\b|"
    r"\b(?:faqs?|help|guide|guidelines|policy|policies|explained|terms|tutorial|instructions)\b\W*$",
    re.IGNORECASE,
)
ASKED_HOW = re.compile(r"(?:how|what|why|when|where|who|can i|do i|learn) ", re.IGNORECASE)  # the same, on a button
REFUSES = re.compile(  # begins a name that leaves things as they are
    r"(?:cancel|no|not|close|keep|dismiss|later|never|undo|skip|stay|decline|reject|x|×|✕)(?!\w)", re.IGNORECASE
)
AGREES = re.compile(  # a name that says yes to what is written around it
    r"(?:yes|ok|okay|confirm|sure|go ahead|do it|(?:i )?(?:agree|accept|understand)|understood|got it|✓|✔)(?!\w)",
    re.IGNORECASE,
)
GOES_ON = re.compile(  # begins a name that only shows, narrows or leads to the next page
    r"(?:continue|next|back|find|search|show|see|view|check(?! ?out\b)|choose|add|go to|sort|filter|apply filters?)\b",
    re.IGNORECASE,
)
HANDS_ON = re.compile(  # a name that hands on what was typed, and says no more than that
    r"(?:continue|next|proceed)\b|(?:finish|done|ok|okay|apply|ready|complete|update|create|start)$", re.IGNORECASE
)
ABOUT_TO = _words("about to", "are you sure", "(?:you|really) want to", "going to")
WILL_BE: dict[str, re.Pattern[str]] = {  # what a page says that will come of a yes
    "pay": _words(r"will be (?:\w+ )?charged"),
    "send": _words(r"will be (?:\w+ )?(?:sent|shared|notified)"),
    "delete": _words(r"will be (?:\w+ )?(?:deleted|removed|erased|cancelled|closed|lost)"),
    "publish": _words(r"will be (?:\w+ )?(?:published|public)"),
}
OF_A_PERSON = _words(  # says that a field is about somebody
    *("name", "surname", "e-?mail", "phone", "mobile", "address", "street", "post[- ]?code", "zip", "born", "birth"),
    *("birthday", "passport", "account", "card", "plate"),
)
HAPPENED = {  # what a page says when it has happened
    "pay": _words("paid", "payment (?:received|complete|successful)", "charged"),
    "order": _words(
        "ordered", "booked", "reserved", "order confirmed", "booking confirmed", "thank you for your order"
    ),
    "send": _words("sent", "received", "submitted", "reported", "on its way to"),
    "delete": _words("deleted", "cancelled", "erased"),
    "publish": _words("published", "posted"),
    "personal": _words("registered", "reminder set", "subscribed", "saved"),
}
PRICE = re.compile(
    r"[€£$¥]\s?\d[\d.,]{0,15}|"
    r"\d[\d.,]{0,15}\s?(?:[€£$¥]|(?:kr|eur|usd|gbp|sek|nok|dkk|chf|pln)\b)|"
    r"\b(?:eur|usd|gbp)\s?\d[\d.,]{0,15}",
    re.IGNORECASE,
)
FINAL = re.compile(
    r"cannot be (?:undone|refunded|cancelled|changed)|non-?refundable|no refunds?|not be refunded|permanently|"
    r"can't be undone|final sale",
    re.IGNORECASE,
)
