"""How the names of controls begin that leave things as they are, look, lead on, or agree to what stands around them.

Core: data, English alone.
"""

import re

HELPS = re.compile(  # the name of a link or text that tells of something, and does not do it
    r"^(?:how|what|why|when|where|who|can i|do i|learn|read|help|tips)\b|"
    r"\b(?:faqs?|help|guide|guidelines|policy|policies|explained|terms|tutorial|instructions)\b\W*$",
    re.IGNORECASE,
)
ASKED_HOW = re.compile(r"(?:how|what|why|when|where|who|can i|do i|learn) ", re.IGNORECASE)  # the same, on a button
NO = (  # begins a name that leaves things as they are
    r"cancel|no|not|close|keep(?!.{0,40} (?:more|longer|another)\b)|dismiss|later|never|undo|skip|stay|decline|reject|"
    r"don'?t|go back|maybe|return to|(?:continue|carry on|go on) (?:editing|writing|reading|browsing|shopping)"
)
LOOKS = (  # begins a name that shows, looks up or arranges
    r"back(?! (?:this|the (?:project|campaign)))|"
    r"previous|clear|reset|edit|change|modify|adjust|show|hide|reveal|view|see(?! you\b)|preview|print|copy|"
    r"download|find|search|look|locate|track|check(?! ?(?:out|in|me)\b)|filter|sort|compare|"
    r"calculate|recalculate|estimate|"
    r"work out|choose|select|pick(?! ?up)|browse|attach|use|help|refresh|reload|scan|translate|expand|collapse|open|"
    r"learn|read|switch to(?! (?:this|my) )|toggle|zoom|redo|export|forgot|(?:log|sign) ?(?:me |us )?(?:in|on|out)|"
    r"save (?:as )?(?:a )?draft|"
    r"get (?:an? |my |the )?(?:prices?|rates?|fares?|times)|"
    r"how|suggest|resend code|test|try|simulate"
)
REFUSES = re.compile(rf"(?:{NO}|x|×|✕)(?!\w)", re.IGNORECASE)
AGREES = re.compile(  # a name that says yes to what is written around it
    r"(?:yes|ok|okay|confirm|sure|go ahead|do it|(?:i )?(?:agree|accept|understand)|understood|got it|allow|✓|✔)(?!\w)",
    re.IGNORECASE,
)
GOES_ON = re.compile(  # begins a name that only shows, narrows or leads to the next page
    r"(?:(?:save (?:and|&) )?continue|next|back|find|search|show|see|view|check(?! ?(?:out|in)\b)|choose|select|"
    r"add(?! (?:an? |my |your )?(?:public )?(?:comment|review|reply|answer|listing)\b| ?[€£$₹])|"
    r"go to|sort|filter|preview|"
    r"compare|review|apply filters?)\b",
    re.IGNORECASE,
)
HANDS_ON = re.compile(  # a name that hands on what was typed, and says no more than that
    r"(?:(?:save (?:and|&) )?continue|next|proceed|review|go on|go to|on to|to (?:payment|checkout|review|summary))\b|"
    r"(?:finish|done|ok|okay|go|apply|ready|complete|update|create|start|get started|let'?s go|confirm|→|›|>)$",
    re.IGNORECASE,
)
STAYS = re.compile(  # begins the name of a control of a form that hands nothing of it in to be kept
    rf"(?:{LOOKS}|add (?:another|more)|"
    rf"add to (?:\w+ )?(?:basket|cart|bag|trolley|list|wish ?list|favou?rites|compare)|remove|apply|play|generate)\b|"
    r"update (?:results?|quantity|basket|cart|total|map|list|price)",
    re.IGNORECASE,
)
UNCONCERNED = re.compile(  # begins the name of a button that leaves, looks or arranges, whatever stands around it
    rf"^(?:(?:{NO}|{LOOKS}|return|next|continue|apply|play(?! now)|pause|why|what|more|less|details?|info|"
    r"faqs?|terms|options|settings|menu|my|i'?d like to think|think|go to|proceed to|check ?out|watch|listen|explore|"
    r"discover|get started|all(?! (?:good|set|done|correct|fine)\b)|"
    r"other|another|different|increase|decrease|plus|minus|enlarge|share link|"
    r"switch account)\b|\W{0,20}$|.?$|\d{1,4}\W{0,4}$)",
    re.IGNORECASE,
)
LEADS_ON = re.compile(  # begins or is a name of a button that decides nothing, whatever it hands in
    r"^(?:(?:continue|next|proceed|review|go on|go to|on to|"
    r"to (?:payment|checkout|review|summary)|(?:log|sign) ?(?:in|on)|"
    r"get|set|run|convert|generate|query|look ?up|plan|list|enter|analy[sz]e|validate|compute|build|customi[sz]e|begin|"
    r"format|measure|quick|deliver (?:to|here)|check answer|vote (?:up|down)|up ?vote|down ?vote|i am (?:over )?\d\d|"
    r"start|accept (?:all|cookies)|mark (?:as )?(?:un)?read|like|follow|favou?rite|bookmark|pin|star|watch|mute|unmute|"
    r"leave (?:page|site|anyway|without)|exit|remind me|ask|contact|chat|message|"
    r"shop|(?:take (?:a |the )?)?tour|rate|install|enlarge|"
    r"load|compose|manage|write|leave|bold|italic|track|resume|map|grid|"
    r"insert|crop|rotate|resize|rename|move to|duplicate|new|turn (?:on|off)|enable|disable|archive|snooze|"
    r"(?:extend|resume) (?:my )?session|i'?m still here|still here|retry|try again|reconnect)\b|"
    r"(?:yes|sure|ok|okay|go|apply|ready|update|let'?s go|got it|understood|allow|done|→|›|>)$)",
    re.IGNORECASE,
)
GOES_THROUGH = re.compile(  # begins a name that goes on with what another button beside it calls off
    r"(?:continue|confirm|proceed|pay|place|approve|complete|send|book|finish|authori[sz]e|submit|order|buy)\b",
    re.IGNORECASE,
)
TAKES_OUT = re.compile(r"(?:remove|delete|x|×|✕)(?: (?:this )?(?:item|product|line|filter|it))?", re.IGNORECASE)
CALLS_OFF = re.compile(r"(?:cancel|stop|abandon)\b", re.IGNORECASE)
ANSWERS_WITH = re.compile("(?:accept|approve|admit|deny|decline|reject|ignore|join|yes|no)", re.IGNORECASE)
TURNS_DOWN = re.compile(r"(?:reject|decline|deny|refuse|no\b)", re.IGNORECASE)
LEADS_AWAY = re.compile(  # begins a name that leaves a form without what stands in it
    r"(?:continue|go|back|return|proceed) (?:shopping|browsing|reading|watching|without|as (?:a )?guest|"
    r"to (?:home|shop))|next (?:page|month|week|day|year|photo|slide|image|picture|results?|post|"
    r"article|question)|skip",
    re.IGNORECASE,
)
