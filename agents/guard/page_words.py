"""What the guard reads around controls: words of forms' fields, and what pages say of what will come of a press.

Core: data, English alone. A line of a table is one alternative; one that ends with a backslash goes on in the next.
"""

import re

from agents.guard.vocabulary import words

_WRAPPED = re.compile(r"\\\n\s*")


def lines(table: str, **parts: str) -> re.Pattern[str]:
    """The pattern of whole words of a table, in which the name of a part in angle brackets stands for it."""
    for name, part in parts.items():
        table = table.replace(f"<{name}>", part)
    return words(*(line.strip() for line in _WRAPPED.sub("", table).strip().splitlines()))


OWN = "(?:(?:your|my|the|our|a|an|stored|saved|linked|default|usual|same|\\w+'s) )*"
MEANS = (
    "(?:card|visa|mastercard|amex|maestro|paypal|apple pay|google pay|direct debit|debit|balance|wallet|credit|"
    "checking|savings|current account|upi)"
)
EVERYBODY = "(?:all|every|everyone|everybody|the|your|him|her|them|their|his|our|an?|up to|\\d[\\d,.]*)"
OTHERS = (
    "(?:manager|teacher|tutor|landlord|tenant|host|guest|seller|buyer|owner|officer|doctor|gp|surgery|clinic|recruiter|"
    "employer|organi[sz]er|approver|reviewer|council|authority|insurer|adviser|advisor|driver|customer|client|sender|"
    "recipient|team|staff|parents?|pupils?|students?|members?|subscribers?|followers?|contacts?|agent|supplier|courier|"
    "traders?|plumbers?|employees?|colleagues?|candidates?|applicants?|neighbours?|author|editors?|moderators?)"
)
DONE = (
    "(?:undone?|undo|revers(?:ed?|ible)|recall(?:ed)?|recover(?:ed|able)?|cancel(?:led)?|changed?|back|edit(?:ed)?|"
    "reopen(?:ed)?|stop(?:ped)?|restored?|revoked?|withdrawn|retrieved?|amend(?:ed)?|unsend|unsent|swapped|altered|"
    "corrected|rejoin|returned)"
)

SUMMARY = lines(r"""
    (?:order|booking|trip|purchase|payment|price|cost|reservation|rental|stay) (?:summary|total|details)
    total (?:due|to pay|price|cost|today|now)
    amount (?:due|payable)
    due (?:now|today)
    to pay (?:now|today)
    you(?:'ll| will)? (?:pay|be charged)
    review (?:and|your)
    (?:grand |sub)?total:? ?[€£$¥]
    billed
    check your (?:details|order|answers|booking|request|application)
""")
"""What stands near the button that ends something."""
PAYS_BY = lines(
    r"""
    (?:from|with|by|via|to|on|using|against|through|in) <OWN>(?:<MEANS>|account(?! is))
    (?:<MEANS>|account)\W{0,4}(?:ending|ends|no)?\W{0,4}(?:in |with )?\W{0,4}\d{3,4}
    <MEANS> (?:on file|on record|saved|stored|ready)
    balance (?:after|afterwards|will be)
    new balance
    prorated
    (?:is|be|are|gets?) (?:charged?|billed|debited|deducted|taken|collected|added)
    charge (?:your|you)
    (?:we|we'll|will) (?:take|charge|bill|debit|collect)
    (?:added|goes) (?:on)?to (?:your|the) (?:bill|room|tab|account|invoice)
    one[- ](?:click|tap)
    (?:payment|stake|deposit|bid|pledge|donation) of
    (?:<MEANS>|account)\W{1,3}[\w.+-]{1,40}@\w+
    (?:per|/|then \d+p?/) ?(?:min|minute|km|kwh|mile)
    total (?:debit|payout)
    paid (?:today|now|at once)
""",
    OWN=OWN,
    MEANS=MEANS,
)
"""Beside a price it says that paying needs nothing more than a press."""
CONSEQUENCES: dict[str, re.Pattern[str]] = {
    "pay": lines(
        r"""
        (?:will|we'?ll|is|be|are) (?:be )?(?:charged?|billed|invoiced|debited|deducted)
        (?:charged|billed|invoiced|debited|deducted) (?:to|from|at once|today|now|immediately|monthly)
        (?:uses|costs|takes|spends) \d+ (?:credits?|points|coins|tokens|gems|miles)
        \d+ (?:credits?|points|coins|tokens|gems|miles) (?:will be|are) (?:used|spent|taken)
        <OWN><MEANS> (?:will be|is|gets) (?:used|charged|debited)
    """,
        OWN=OWN,
        MEANS=MEANS,
    ),
    "publish": lines(r"""
        visible (?:to|for) (?:everyone|everybody|anyone|all|the public|the world)
        (?:everyone|everybody|anyone|the world|the public|people|visitors|readers) (?:can|will) (?:see|read|find|\
            view)
        public (?:reply|post|page|profile|review|comment|link|account|channel)
        (?:appears?|shows?|posted|published) (?:publicly|on (?:your|the) (?:profile|feed|timeline|front page|site|\
            wall))
        goes (?:live|public|online|out to the public)
        (?:posting|publishing|reviewing|commenting) (?:as|to|in public|publicly)
        anyone with the link
        audience:? (?:everyone|public|all)
    """),
    "send": lines(
        r"""
        (?:will be|is|are|gets?|be) (?:also )?(?:notified|informed|e-?mailed|alerted|texted|messaged|\
            invited)(?! when| if| once)
        (?:will be|is|are|gets) told
        each (?:\w+ )?(?:gets|receives|will get|will receive)
        (?:mails|e-?mails|notifies|texts|alerts|pings|informs|tells|messages|invites) <EVERYBODY>
        (?:goes|go|sent|sends|shared|forwarded|delivered|shown|passed|submitted|transferred|handed|dispatched|\
            posted) (?:straight |out |on |over |directly )?(?:to|with) <EVERYBODY>
        (?:we'?ll|we will|this will|it will|will) (?:tell|inform|notify|alert|e-?mail|text|message|pass|forward|\
            let) <EVERYBODY>
        (?:the |your |an? |up to \d+ |\d+ |each |every )<OTHERS> (?:will|gets?|receives?|sees?|may|can|is|\
            are) (?:be |get |see |receive |hear |ring |call |contact |told |notified |an? |it|this|your)
        for someone else
        (?:will|can|may) (?:see|ring|call|contact|e-?mail|phone|hear from|get|receive) (?:this|it|you|your)
        \d[\d,.]* (?:recipients|subscribers|followers|contacts|attendees|guests|employees|addressees|invitees)
        (?:^|.*\s)to: (?:your|the|all|[A-Z][a-z]+|\S+@)
        recipients?:
        on behalf of
        (?:for|awaiting) (?:approval|review) by
    """,
        EVERYBODY=EVERYBODY,
        OTHERS=OTHERS,
    ),
    "delete": lines(r"""
        (?:deletes|erases|wipes|removes|clears|destroys|closes|ends|stops|cancels) (?:all|every|the|your|it|this|\
            them)
        (?:will be|is|are|gets?) (?:\w+ )?(?:deleted|erased|wiped|lost|destroyed|removed|gone|cancelled|closed|\
            ended)(?! when| if)
        (?:lose|loses|losing) (?:access|your|all|everything|the|its)
        no (?:copy|backup|back-up|trace)
        (?:vanish|disappear|gone) (?:for|from|at once)?
    """),
    "personal": lines(r"""
        (?:your|these|this|the) (?:details|data|information|id|photo|documents?|records?|location|number|\
            contacts) (?:will be|is|are|goes|go) (?:shared|passed|sent|given|stored|used|uploaded|checked|to)
        (?:wants|would like|asks|requests?) (?:to )?access
        will be able to (?:see|read|view|access)
        credit (?:check|search|bureau)
    """),
}
"""What a page says near a button that will come of it."""
PUBLIC = re.compile(
    r"(?:public(?:ly)?|everyone|everybody|anyone)(?: (?:can|on|in|with|who)\b.*|\W.*)?$", re.IGNORECASE | re.DOTALL
)
"""Begins the choice that what is made is seen by all."""
LASTING = lines(
    r"""
    (?:can ?not|can'?t|couldn'?t|won'?t|will not|never|no longer|not|nobody can|no one can|\
        unable to) (?:be )?(?:\w+ ){0,4}?<DONE>
    irreversibl[ey]
    permanent(?:ly)?
    for good
    forever
    (?:is|are|be|and|becomes?) final
    no (?:way back|going back|undo|(?:changes?|cancellations?|refunds?) (?:are )?(?:possible|after|afterwards|later))
    (?:legally )?binding
    legally
    (?:only|just) (?:\w+ )?once
    once only
    one (?:attempt|chance|try|go)
    last (?:step|chance)
    commit(?:s|ment|ting)?
    by \w+ing (?:\w+ ){0,3}?(?:you|i) (?:\w+ )?(?:accept|agree|confirm|authori[sz]e|consent|commit|promise|\
        undertake|enter)
    (?:you|i) (?:accept|agree|authori[sz]e|consent|commit|undertake|declare|certify)
    (?:you'?ll|you will|we'?ll|we will) (?:get|receive|send|text|e-?mail) (?:you )?(?:an? |the |your )?(?:sms|\
        text|e-?mail|confirmation|receipt|ticket|voucher|reference|code by)
    (?:tap|click|press|hit) (?:(?:once|here|enter|below|the button) )?to (?:book|buy|pay|order|confirm|cancel|\
        free|release|send|submit|place|reserve|delete|accept|sign|start|stop|hand|give|transfer|approve|join|bid|\
        claim|enter)
    (?:exit|cancell?ation|early termination|late|no-?show|joining|admin) (?:fee|charge|penalty)
    no-?show
    late cancell?ation
    minimum (?:term|period|contract)
    \d+[- ]months? (?:contract|term|minimum|agreement|plan)
    notice period
    obligation to (?:buy|pay)
    (?:takes? effect|appl(?:y|ie[sd])|starts?|happens|done|effective|begins?) (?:at once|immediately|right away|\
        straight away|instantly|now|today|tonight|within)
    (?:at once|immediately|instantly) (?:after|on) (?:this|pressing|clicking)
    without (?:a )?(?:further|another|any) (?:question|step|confirmation|notice)
    (?:held|reserved|booked|kept) for you
""",
    DONE=DONE,
)
"""What says that something is done at once or stays done."""
REASSURES = re.compile(
    r"\b(?:won'?t|nothing|never|isn'?t|aren'?t|not|no one|nobody|none)(?: \w+){0,4} "
    r"(?:charged|sent|stored|saved|booked|shared|published|posted|deleted|bought|submitted|cancelled|ordered|paid|"
    r"committed|reserved|told|notified|billed|taken)"
    r"(?! again\b)(?! until (?:you|i) (?:press|tap|click|confirm|hit|submit))"
    r"(?: (?:yet|here|until|now|before|unless))?\b"
    "|"
    r"\b(?:asked|(?<!n't be )(?<!not be )able|chance|prompted) to (?:confirm|review|check|edit|change)|"
    r"\b(?:next|following|another|later|separate) (?:screen|page|step|window)|"
    r"\bbefore (?:you )?(?:pay|anything|confirm|decid|submit|send|we (?:charge|send)|it (?:is|goes))|"
    r"(?<!\w)no (?:obligation|commitment|payment (?:needed|required|yet))|"
    r"\bcan (?:always |still |later )?(?:be )?(?:undone|undo|restored?|reversed?|"
    r"changed? (?:it|this|back|later|any ?time))|"
    r"\b(?:only|just) (?:you|visible to you|for (?:you|yourself|this device|this browser))\b|"
    r"\b(?:test|demo|practice|preview|sandbox|sample) (?:mode|only|account|run|data|questions?|quiz|attempt)|"
    r"\b(?:stays?|remains?|still|kept?|saved?|stored?|only|as|is|your|auto-?saved?) (?:as )?(?:an? |in )?drafts?\b",
    re.IGNORECASE,
)
"""What says near a control that it is no more than a step to where somebody decides."""
ASKS_FIRST = re.compile(
    r"\b(?:(?:asked|prompted) to|asks? (?:you )?to|prompts? (?:you )?to) (?:confirm|type|re-?type|review|check)|"
    r"\bconfirm(?:ation)? (?:is asked|comes|follows|on the next|in the next)",
    re.IGNORECASE,
)
"""What says near a button that it only asks whether it is meant."""
CAN_UNDO = re.compile(r"\((?:ctrl|cmd|⌘)\W?z\b|\bcan be undone\b|\bundo(?:able)? (?:later|with|by)\b", re.IGNORECASE)
"""What a button is called that says how what it does is taken back."""
ASKS_WHO_COMES = words(
    r"going\b(?=\?)", r"attending\b(?=\?)", "can you make it", "will you (?:come|attend)", "rsvp", "invited you"
)
"""Where this is asked, a no is an answer that somebody gets, too."""
MORE_STEPS = re.compile(
    r"\b(?:step|page|section|part) (?:1|one) of [2-9]|\bnext: (?:your|the|details|payment|review)", re.IGNORECASE
)
"""What says near a control that other pages follow on which it is decided."""
ANSWERS = words(
    "invit(?:ed?|ation|es)",
    "(?:friend |join |access )?requests?",
    "applica(?:nt|tion)",
    "candidate",
    "(?:job|your|an) offer",
    "offered",
)
"""Near a refusal it says that somebody waits for the answer."""
APPLIES = re.compile(r"(?:apply|go|run|ok|do it|execute|perform)(?!\w)", re.IGNORECASE)
"""A button that does what was chosen in the list beside it."""
AT_ONCE = lines(r"""
    as soon as
    (?:as|while|when|once) (?:you|you've|you have) (?:typed?|choose|chose|pick|select(?:ed)?|tick(?:ed)?|enter(?:ed)?)
    (?:sent|submitted|posted|published|released|saved|applied|notified) (?:automatically|at once|instantly|immediately)
    (?:changing|choosing|picking|ticking) (?:\w+ ){0,2}takes effect
    (?:goes?|appears?|is|are|be) (?:\w+ ){0,5}(?:automatically|at once|instantly|immediately|straight away)
    automatically (?:sends?|submits?|posts?|publishes|releases)
    (?:changes?|choices?|selection) (?:\w+ ){0,2}(?:at once|immediately|instantly|straight away|right away)
    (?:choosing|picking|selecting|ticking|typing|changing) (?:\w+ ){0,4}(?:sends|tells|notifies|e-?mails|posts|\
        publishes|deletes|cancels|books|charges|submits|closes|moves)
""")
"""Says near a field that what is typed or chosen there is used without another press."""
COMMANDS: dict[str, re.Pattern[str]] = {  # what is typed into a console
    "delete": words(
        r"drop (?:table|database|schema|index|view|user|collection)",
        r"delete from",
        r"truncate(?: table)? \w+",
        r"rm -\w+",
        "rmdir",
        r"mkfs\S*",
        r"git push (?:-f|--force)",
        "git reset --hard",
        "kubectl delete",
        "shutdown",
        r"(?:docker|terraform) (?:rm|destroy|system prune)",
        "flushall",
        r"update \w+ set",
    ),
}
SEEKS = words("search", "find", "filter", "look up", "jump")  # says that a field only looks for something
WRITTEN_IN: dict[str, re.Pattern[str]] = {  # what a field is called in which enter sends what is typed
    "send": words(
        "messages?",
        "repl(?:y|ies)",
        "chat",
        "say (?:something|hi|hello)",
        "ask (?:a|me|us|anything)",
        "invite",
        "write to",
        "type (?:a|your) (?:message|reply|answer|question)",
        "aa",
        "text",
        "whisper",
    ),
    "publish": words("comments?", "what'?s on your mind", "what'?s happening", "status update", "post", "tweet"),
}
SIGNS_IN = re.compile(r"(?:sign|log) ?(?:in|on)\b|welcome back", re.IGNORECASE)  # begins the heading of such a form
ABOUT_TO = words("about to", "are you sure", "(?:you|really) want to", "going to")
WILL_BE: dict[str, re.Pattern[str]] = {  # what a page says that will come of a yes
    "pay": words(r"will be (?:\w+ )?charged"),
    "send": words(r"will be (?:\w+ )?(?:sent|shared|notified)"),
    "delete": words(r"will be (?:\w+ )?(?:deleted|removed|erased|cancelled|closed|lost)"),
    "publish": words(r"will be (?:\w+ )?(?:published|public)"),
    "personal": words("(?:wants|would like|asks) (?:to )?access", "will be able to (?:see|read|view|access)"),
}
HAPPENED = {  # what a page says when it has happened
    "pay": words("paid", "payment (?:received|complete|successful)", "charged"),
    "order": words("ordered", "booked", "reserved", "order confirmed", "booking confirmed", "thank you for your order"),
    "send": words("sent", "received", "submitted", "reported", "on its way to"),
    "delete": words("deleted", "cancelled", "erased"),
    "publish": words("published", "posted"),
    "personal": words("registered", "reminder set", "subscribed", "saved"),
}
FINAL = re.compile(
    r"cannot be (?:undone|refunded|cancelled|changed)|non-?refundable|no refunds?|not be refunded|permanently|"
    r"can't be undone|final sale",
    re.IGNORECASE,
)
TELLS_WHO = lines(r"""
    e-?mail
    (?:tele|mobile )?phone
    (?:mobile|tel|cell|whatsapp|fax)
    surname
    (?:first|last|given|family|full|legal|maiden|middle|fore) ?names?
    [fl] ?name
    (?:your|contact|guest|passenger|travell?er|patient|recipient|sender|cardholder|holder|driver|child(?:'s)?|\
        parent|applicant|owner|customer|client|billing|shipping|delivery|attendee|student|pupil|emergency|\
        beneficiary|payee|account|name on|member|tenant|donor|lead|partner|pet owner|referee|\
        witness)'?s? (?:(?:full|first|last) )?(?:name|contact|card)
    address line
    street
    (?:home|postal|delivery|billing|shipping|mailing|pick-?up) address
    address ?[12]?
    house number
    (?:date of birth|birth ?da(?:y|te)|born|dob|b ?day)
    passport
    document (?:no|number)
    national (?:id|insurance)
    (?:nino|ssn|nhs|iban|cvc|cvv|cv|resume)
    social security
    (?:insurance|policy|tax|id|social|case) (?:id|number|code|no|card)
    licen[cs]e
    identity
    card ?(?:number|no)
    cc (?:number|csc|exp)
    sort ?code
    account (?:number|no)
    routing
    (?:symptoms?|allerg(?:y|ies)|medications?|diagnos[ei]s|(?:health|medical) (?:conditions?|history))
    (?:income|salary|emergency|next of kin|signature|fingerprint)
""")
"""Says that a field is for what reaches a person, who they are, what they own or suffer from."""
WHO_SIGNS_IN = lines(r"""
    user(?: ?name)?
    log ?in
    e-?mail
    (?:phone|mobile|member(?:ship)?|account|customer|card|pin|library)
    (?:\w+ )?id
""")
"""Says that a field beside a password is for who has it."""
ABOUT_SOMEBODY = lines(r"""
    names?
    (?:post[- ]?code|zip|city|town|nationality|gender|age|birth)
    (?:account|card|plate|reg|vrm|registration|username|company)
    member(?:ship)?
""")
"""Says that a field is about somebody, though no more than a little of them."""
REACHES_SOMEBODY = {  # what is written in a field that reaches or tells of somebody, by how it looks
    "e-mail": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}"),
    "phone": re.compile(r"(?!\d{4}-\d\d-\d\d$)\+?\(?\d[\d ()/-]{8,18}\d"),
    "surname": re.compile(r"(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof)\.? [A-Z][\w' -]{2,60}"),
    "postcode": re.compile(r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}"),
    "street": re.compile(
        r"(?:(?:Flat|Apt|Unit) \w{1,5},? )?\d{1,5}[A-Za-z]? [A-Z][\w' ]{2,40} (?:Street|St|Road|Rd|Lane|Ln|Avenue|"
        r"Ave|Drive|Dr|Close|Court|Ct|Way|Hill|Place|Terrace|Gardens|Crescent|Square|Row|Walk|Grove|Park|Boulevard|Blvd)\.?"
    ),
    "iban": re.compile(r"[A-Z]{2}\d\d ?(?:[A-Z0-9]{4} ?){3,7}[A-Z0-9]{0,4}"),
}
OF_NOBODY = re.compile(  # struck out of what a field is called, as it is of a thing
    r"\b(?:file|folder|project|board|list|team|playlist|event|product|item|user|display|brand|domain|host|store|shop|"
    r"pet|recipe|group|channel|tag|label|field|template|search|report|company|place|hotel|street|city|screen|page|"
    r"workspace|album|collection|segment|device|network|server|plan|scenario|view|filter|column|table|sheet) ?names?\b|"
    r"\b(?:ip|web|mac|site) address|gift card|sd card",
    re.IGNORECASE,
)
