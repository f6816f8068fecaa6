"""What the guard reads on controls: the words that tell of a risk, by its kind, and those that tell of none.

Core: data. A word is here by what it means: it does what the visitor cannot take back alone on the same page. They are
English alone. `tests/agents/test_guard_words.py` tries them on names of controls.
"""

import re
import unicodedata

_SPACES = re.compile(r"\s+")
_APOSTROPHES = re.compile("[’‘ʼ`´]")  # designers' ones, for which words are written with the plain one


def plain(text: str) -> str:
    """A text as it is compared: compatible letters are one (fullwidth ones), what cannot be seen is gone (soft hyphens,
    characters without width or that turn the direction), spaces in a row are one, apostrophes straight."""
    if not text.isascii():
        text = _APOSTROPHES.sub("'", text)
        text = unicodedata.normalize("NFKC", text)
        text = "".join(one for one in text if unicodedata.category(one) != "Cf")
    return _SPACES.sub(" ", text).strip()


def words(*alternatives: str) -> re.Pattern[str]:
    """The pattern of whole words that are one of these."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)


MINE = "(?:the |my |your |our |this )?"
OWN = "(?:the |my |your |our |this |these |a |an )?"
BINDING = "(?:subscription|membership|contract|plan|account|profile|policy|tenancy|lease)"
CALLED_OFF = (
    f"(?:{BINDING}|order|booking|trip|appointment|reservation|tickets?|flight|stay|visit|transfer|payment|lesson|class|"
    "table|delivery|collection|pickup|event|meeting|course|enrol?lment|place|seat|loan|rental|hire|viewing|renewal|"
    "direct debit|standing order|shipment|donation|membership|registration|attendance|item)s?"
)
CARTS = "(?:cart|basket|bag|bin|trash|recycle bin)"
LISTS = "(?:cart|basket|bag|trolley|wish ?list|favou?rites|watch ?list|compar(?:e|ison)|shortlist|saved|list|selection)"
TAKEN = (
    "(?:seats?|spots?|places?|tickets?|tables?|slots?|rooms?|fares?|pitch|stand|desk|car|items?|dates?|times?|offer|"
    "rates?|deal)"
)
ANSWERED = (
    "(?:offer|request|application|invitations?|invites?|quote|bid|order|booking|proposal|swap|trade|claim|candidate|"
    "applicant|contract|terms and|friend|challenge|delivery|job|shift|price|estimate)"
)

# Said on a control, each holds wherever the control stands.
ALWAYS: dict[str, re.Pattern[str]] = {
    "pay": words(
        *(
            "pay now",
            "(?:and|&) pay",
            "(?:transfer|send|wire|withdraw) (?:money|funds|cash)",
            "(?:and|&) subscribe",
            f"release {MINE}(?:payment|funds)",
        ),
        f"(?:confirm|authori[sz]e|approve) {MINE}(?:payment|purchase|transfer|charge|withdrawal|debit)",
        f"(?:complete|finish) {MINE}(?:purchase|payment|checkout)",
    ),
    "order": words(
        *(f"(?:place|submit|complete) {MINE}order", f"place {MINE}(?:bid|bet|trade|hold)", "(?:and|&) order"),
        *(f"complete {MINE}(?:booking|reservation)", f"confirm (?:and|&|{MINE}{CALLED_OFF}|purchase)"),
        *(
            f"sign {MINE}(?:contract|document|agreement|lease|petition)",
            f"accept {MINE}(?:\\w+ )?(?:offer|quote|contract|proposal)",
        ),
    ),
    "delete": words(
        *("delete", "erase", "unsubscribe", "factory reset", "permanently remove", "destroy", "purge"),
        f"(?:close|deactivate|terminate|end) {MINE}{BINDING}",
        *(
            f"cancel {MINE}(?:checked |selected |these |all )?{CALLED_OFF}",
            f"empty {MINE}{CARTS}",
            f"withdraw {MINE}(?:application|offer|bid|claim|consent)",
        ),
    ),
    "send": words("(?:and|&|then) (?:send|submit|notify|invite|e-?mail|inform)"),
    "publish": words(
        "publish",
        "(?:and|&|then) (?:post|share|go live)",
        "post (?:now|comment|reply|review)",
        "tweet",
        rf"make {MINE}(?:\w+ )?public",
        "go live",
    ),
}
# Said on the button of a form; elsewhere such a button only opens one ("Ask the host", "Book a room" in a list).
IN_A_FORM: dict[str, re.Pattern[str]] = {
    "pay": words(
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
        "add (?:funds|money|credit)",
        "make (?:a )?(?:payment|donation)",
        "donate",
        "pledge",
        "invest",
        "(?:send|give) (?:a )?gift",
        rf"start {OWN}(?:free )?trial",
    ),
    "order": words(
        *("order", "book", "reserve", "confirm", "move", "reschedule", "hire", "rent", "save changes", "bid"),
        *(
            "accept",
            "agree",
            "approve",
            "sell",
            "swap",
            "exchange",
            "sign(?! (?:in|up|out|on|off))",
            "enroll?",
            "hold",
            "claim",
            "secure",
            "trade",
        ),
        f"complete {OWN}registration",
        "switch (?:to (?:this|my)|now|tariff|plan|provider|supplier)",
        *(
            "activate",
            "finali[sz]e",
            "lock in",
            "unlock",
            "rebook",
            "replace",
            "change (?:plan|seat|tariff|flight)",
        ),
        "pre-?order",
        "schedule (?:an? |my )?(?:appointment|visit|call|delivery|collection|viewing|pickup|service|test drive)",
        "arrange",
        "(?:rsvp|attend|check in)",
        "extend",
    ),
    "send": words(
        *(
            "send",
            "paper ?plane",
            "email",
            "mail",
            "text me",
            "submit",
            "reply",
            "share",
            "invite",
            "report",
            "claim",
            "flag",
            "assign",
            "endorse",
            "ask",
            "vote",
        ),
        *(
            "request",
            "call me",
            "get (?:a |my )?quote",
            "forward",
            "refund",
            "nominate",
            "notify",
            "message",
            "contact (?:the )?(?:seller|owner|host|agent|us|landlord|support)",
            "file (?:a |my )?(?:complaint|claim)",
            "refer",
            "respond",
            "apply (?:for|now|to)",
            "e-?file",
            "file (?:my|your|the|now)",
            r"let (?:my |the |your )?\w+ know",
        ),
    ),
    "delete": words(
        "remove", "unsubscribe", "revoke", "terminate", "deactivate", "close case", "clear (?:my )?(?:history|data)"
    ),
    "publish": words(
        "create (?:\\w+ )?(?:topic|thread|post|poll|discussion|release|listing)",
        f"add {OWN}(?:public )?(?:comment|review|reply|answer|listing|story|post)",
        "update (?:page|listing|post)",
        "post",
        "comment",
        "publish",
        "announce",
        "broadcast",
        "list (?:it|item|for sale)",
    ),
    "personal": words(
        *("save", "register", "sign up", "subscribe", "join", "notify me", "upload", "authori[sz]e", "consent"),
        f"link {OWN}account",
        r"set (?:an? |the |my )?(?:\w+ )?(?:reminder|alarm|alert|password|pin)",
        *(
            "(?:create|open) (?:an? |my |your )?(?:\\w+ )?(?:account|profile)",
            f"verify {OWN}(?:identity|e-?mail|phone)",
        ),
        f"(?:update|change) {OWN}(?:e-?mail|address|profile|phone|password|name|details|card|payment|account)",
    ),
}
OF_A_PRICE = words(
    *("pay", "buy", "purchase", "order", "book", "reserve", "rent", "hire", "subscribe", "transfer", "donate"),
    *("repay", "sell", "exchange", "convert", "add", "get (?:it|this|access|now|yours)", "start", "charge", "move"),
    *("upgrade", "renew", "top up", "send", "give", "bid", "bet", "invest", "withdraw", "pledge", "tip", "accept"),
    *(
        "cash out",
        "redeem",
        "sell",
        "extend",
        "unlock",
        "boost",
        "join",
        "play",
        "claim",
        "park",
        "ship",
        "insure",
        "back",
    ),
    *(
        "recharge",
        "raise",
        "contribute",
        "support",
        "sponsor",
        "chip in",
        "settle",
        "reload",
        "refill",
        "take",
        "snap up",
    ),
)
"""Said on a button together with a price, they hold wherever it stands."""
SLIDES = words("(?:slide|swipe|drag|pull)")  # says what a slider does once it is pulled to its end
HARMLESS = words(  # struck out of a name before words of risk are looked for
    *("orders? (?:by|history|details|status|number|summary|total|date)", "publish(?:ed|ing)? date", "post ?code"),
    f"save {OWN}(?:search|filters?|view|layout|draft)",
    "save (?:and|&) (?:come back(?: later)?|return|exit|finish later)",
    f"save (?:for later|as (?:a )?draft|to {OWN}{LISTS}|up to|as pdf)",
    f"remove (?:all )?(?:filters?|sorting|highlights?|(?:[^.?!]{{1,80}} )?from {OWN}{LISTS})",
    "(?:swap|switch|exchange|reverse) (?:origin|departure|from|stations?|directions?|airports?|cities|locations?|"
    "languages?|currenc(?:y|ies)|units)",
    "(?:remove|delete) (?:attachment|attached file|row|line|passenger|travell?er|stop|leg|option|topping|coupon|promo)",
    *(
        "(?:allow|accept|agree|reject) (?:all |necessary |essential |optional )?cookies",
        "(?:accept|reject|allow) all",
        "book reviews?",
        "move (?:up|down|left|right|to (?:top|bottom|folder))",
        "(?:apply|redeem|remove|use) (?:a |the |my )?(?:coupon|code|voucher code|promo(?:tion)?(?: code)?|discount)",
        "(?:delete|remove|discard|clear) (?:search|selection|text|input|tags?|filters?)",
    ),
    *("report (?:type|date|period)", "(?:pay|payment) (?:monthly|methods?)", "cancel any ?time", "share price"),
)
LEADS_TO = words("check ?out", "proceed", "find out", "(?:sign|log) in")  # below a sum it leads to where one pays
CLAUSES = re.compile(r" ?(?:,|:|;|\||–|—| - |\band\b|&|\+) ?(?:then )?", re.IGNORECASE)  # what parts a name
PICTURES_OF = words("trash(?: can| alt)?", "delete", "dustbin", "paper ?plane", "send")  # of icons, by their classes
OFFERED = words("quotes?", "eligib(?:le|ility)", "premiums?", "my (?:price|rate|results?|score)", "offers?")
"""What is told only after a website knows of somebody: who asks for it hands in what the form holds."""
PRICE = re.compile(
    r"[€£$¥₹₩₺₽₪₫₱฿₴]\s?\d[\d.,]{0,15}|"
    r"\d[\d.,]{0,15}\s?(?:[€£$¥₹₩₺₽₪₫₱฿₴]|(?:kr|eur|usd|gbp|sek|nok|dkk|chf|pln|zł|kč|inr|aud|cad)\b)|"
    r"\b(?:eur|usd|gbp|chf|inr|aud|cad|rs|kr)\.?\s?\d[\d.,]{0,15}|(?<![\w.,:])\d{1,3}p\b(?! video)",
    re.IGNORECASE,
)
