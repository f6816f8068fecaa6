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


def words(*alternatives: str) -> re.Pattern[str]:
    """The pattern of whole words that are one of these."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)


MINE = "(?:the |my |your |our |this )?"
OWN = "(?:the |my |your |our |this |these |a |an )?"
BINDING = "(?:subscription|membership|contract|plan|account|profile|policy|tenancy|lease)"
CALLED_OFF = (
    f"(?:{BINDING}|order|booking|trip|appointment|reservation|tickets?|flight|stay|visit|transfer|payment|lesson|class|"
    "table|delivery|collection|pickup|event|meeting|course|enrol?lment|place|seat|loan|rental|hire|viewing|renewal|"
    "direct debit|standing order|shipment|donation|membership|registration|attendance)"
)
CARTS = "(?:cart|basket|bag|bin|trash|recycle bin)"
LISTS = "(?:cart|basket|bag|trolley|wish ?list|favou?rites|watch ?list|compar(?:e|ison)|shortlist|saved|list|selection)"
TAKEN = (
    "(?:seats?|spots?|places?|tickets?|tables?|slots?|rooms?|fares?|pitch|stand|desk|car|items?|dates?|times?|offer)"
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
            f"accept {MINE}(?:offer|quote|contract|proposal)",
        ),
    ),
    "delete": words(
        *("delete", "erase", "unsubscribe", "factory reset", "permanently remove", "destroy", "purge"),
        f"(?:close|deactivate|terminate|end) {MINE}{BINDING}",
        *(
            f"cancel {MINE}{CALLED_OFF}",
            f"empty {MINE}{CARTS}",
            f"withdraw {MINE}(?:application|offer|bid|claim|consent)",
        ),
    ),
    "publish": words(
        "publish", "post (?:now|comment|reply|review)", "tweet", rf"make {MINE}(?:\w+ )?public", "go live"
    ),
}
# Said on a button, not on a link, these hold wherever it stands: nothing is left to be said or chosen after them.
ON_A_BUTTON: dict[str, re.Pattern[str]] = {
    "pay": words(
        *(
            r"^(?:buy|purchase|donate|tip)$",
            "^buy now",
            "^donate",
            rf"^pay(?: {OWN}\w+)?$",
            "^(?:buy|purchase) (?:this|these|it)",
            "^(?:pay|check ?out) (?:with|by|using|via)",
            "^(?:cash out|top up now)",
            rf"^(?:redeem|convert|exchange|stake|invest) (?:{OWN}points|{OWN}voucher|\d)",
        ),
        *(
            f"^(?:renew|start|resume|reactivate) {OWN}{BINDING}",
            "^(?:upgrade|renew|subscribe|bid) now",
            f"^settle {OWN}(?:invoice|bill|account)",
            f"^(?:activate|turn on|set up|enable) {OWN}(?:auto ?-?pay|auto-?renew(?:al)?|direct debit|standing order)",
        ),
    ),
    "order": words(
        *("^confirm", "^(?:book|reserve|order|rent|hire) (?:this|these|it)", "^(?:book|reserve|order|sign)$"),
        *("^approve", "^(?:rent|hire|reserve|enroll?|order|book) now"),
        *(f"^(?:hold|claim|secure|grab|lock in|take) {OWN}{TAKEN}", "^hold (?:for|it|this|until|at)", "^claim now"),
        *(f"^keep {OWN}(?:seat|spot|place) for me", "^(?:count me in|sign me up|i'?m in|i'?ll take it|i'?m going)"),
        *(
            "^(?:it'?s )?(?:a )?(?:done )?deal$",
            "^(?:make it mine|put me down|book me in|lock it in|snap it up|seal the deal)",
        ),
        *(
            "^(?:that works|works for me|sounds good|i'?ll be there|i'?ll have|i (?:want|accept|do|agree))",
            "^see you (?!in)",
        ),
        *("^(?:let'?s do it|do it|go for it|yes please|i'?m sure)$", "^(?:free|give up|release) (?:my|the|this) "),
        *("^(?:step down|resign|quit|pull out|drop out)", "^start (?:session|parking|exam|test|trial|ride|hire)"),
        *("^(?:rsvp|enroll?)(?: yes)?$", f"^join {OWN}(?:waiting ?list|waitlist|queue)", "^request to (?:book|join)"),
        *("^(?:instant book|pre-?order)(?: now)?$", "^(?:check in now|complete check-?in)", "^(?:bid|bet|sell) [^a-z]"),
        f"^(?:extend|renew) {OWN}(?:stay|rental|loan|hire|booking|parking)",
        f"^(?:finish|complete) {OWN}(?:enrol?ling|enrol?lment|registration|registering|booking|sign-?up|order)",
        "^(?:switch|move|upgrade|sign) me (?:over|up)",
    ),
    "send": words(
        *("^(?:send|submit)(?: (?:it|now|all|anyway))?$", f"^request {OWN}(?:refund|access|callback|payout|return)"),
        *(
            "^(?:e-?file|file (?:my|now|the|return))",
            "^vote$",
            "^vote for",
            "^cast (?:my |your )?vote",
            "^(?:hand (?:in|over)|turn in)",
            "^(?:tell|let) (?:them|him|her|everyone|the|my)",
            "^(?:pass it on|say yes|call it)",
            "^(?:connect|add friend)$",
        ),
        f"^submit {OWN}(?:\\w+ )?(?:review|claim|application|request|answers?|form|return|vote|entry|proposal|"
        "complaint|report|order|timesheet|expenses?|bid|quote|ticket request|response|feedback|test|exam|quiz|homework|"
        "assignment|results?|payment|offer|registration|nomination|prescription|reading|details|documents?)",
        f"^(?:accept|decline|reject|deny|refuse|counter) {OWN}{ANSWERED}",
        "^(?:notify|alert|remind|message|email|invite|text|call) (?:all|everyone|everybody|team|the team|guests|"
        "attendees|members|customers|students|parents|followers|subscribers|seller|buyer|driver|host|them|him|her)",
        f"^(?:send|resend) {OWN}(?:invitations?|invites?|friend request|connection request|request|offer|reminders?|"
        "invoice|newsletter|campaign|enquiry|inquiry|application|reply|order|alert|broadcast|notification)",
        f"^mark {OWN}(?:as )?(?:sold|paid|shipped|dispatched|delivered|sent|collected)",
        f"^(?:finish|end|complete) {OWN}(?:test|exam|quiz|attempt|assessment|survey)",
    ),
    "delete": words(
        "^(?:remove|wipe|discard|uninstall|trash|dustbin|(?:format|drop) (?:disk|drive|device|table|database))",
        f"^leave {OWN}(?:\\w+ )?(?:group|team|organi[sz]ation|workspace|channel|course|class|server|project|club)",
        "^(?:revoke|terminate|deactivate|ban|kick|evict|unfriend)",
        "^cancel (?:my|your|this|these)",
        f"^reset {OWN}(?:device|phone|progress|everything|all|data|factory|settings|history|account|statistics)",
        f"^clear {OWN}(?:history|all data|data|chat|conversation|messages|cache and|browsing)",
        f"^(?:opt out|forget {OWN}(?:device|network|card))",
        "^(?:overwrite|goodbye|get rid|throw away|bin it|scrap|shred|nuke|shut down|take (?:it )?down|stop service)",
    ),
    "publish": words(
        "^post$",
        "^(?:merge|deploy|release(?! notes)|announce|broadcast|launch (?:campaign|now|site|offer|it))",
        f"^list {OWN}(?:item|for sale)",
        "^(?:put (?:it )?(?:live|online)|push live|share with (?:the )?(?:world|everyone)|show everyone)",
    ),
    "personal": words(
        f"^(?:share|import|sync|upload) {OWN}(?:location|contacts|address book|medical|passport|id|health)",
        f"^(?:link|connect) {OWN}(?:bank|card|paypal)",
        f"^(?:authori[sz]e|grant|allow) {OWN}(?:app|access|application|permissions?)",
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
        "switch to (?:this|my)",
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
    "delete": words("remove", "unsubscribe", "revoke", "terminate", "deactivate", "clear (?:my )?(?:history|data)"),
    "publish": words("post", "comment", "publish", "announce", "broadcast", "list (?:it|item|for sale)"),
    "personal": words(
        *("save", "register", "sign up", "subscribe", "join", "notify me", "upload"),
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
    f"save (?:for later|as (?:a )?draft|to {OWN}{LISTS}|up to|as pdf)",
    f"remove (?:all )?(?:filters?|sorting|highlights?|from {OWN}{LISTS})",
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
    r"[€£$¥]\s?\d[\d.,]{0,15}|"
    r"\d[\d.,]{0,15}\s?(?:[€£$¥]|(?:kr|eur|usd|gbp|sek|nok|dkk|chf|pln)\b)|"
    r"\b(?:eur|usd|gbp)\s?\d[\d.,]{0,15}",
    re.IGNORECASE,
)
