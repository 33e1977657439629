"""The English phrases that tell a rule from a wish, a decision from a fact.

Promise: data only; ``kinds`` says how it is read. Patterns are searched in one sentence, without regard to case.
"""

IDLE = (
    r"(?:worry|you|know|think|forget|mind|bother|hesitate|get|understand|see|i|we|have|be (?:afraid|so|shy|sorry)|care|need"
    r"|want|like|remember|believe|feel|give up|give in|miss|lose|a|an|the|in|on|so|problem|worries|idea|way|thanks|doubt"
    r"|longer|wonder|rush|hurry|big|matter|chance|clue|luck|errors?|issues?|problems?|reason|news|one|change|changes|results?|more questions?)"
)
# Of these tables each row is a pattern, words of which one stands in whatever it matches, and words with which that begins.
FORBIDS = (
    (
        rf"^(?:never|do not|don't|avoid|no|you must not|you may not|you can't|we can't|we cannot) (?!{IDLE}\b|\w+(?:ed)\b)\w",
        "",
        "never do don't avoid no you we",
    ),
    (r"^(?:nobody|no one|none of)\b", "", "nobody no none"),
    (r"^nothing\b.*\b(?:without|until|unless|before|may|must|can)\b", "", "nothing"),
    (
        r"\b(?:must|may|should|shall) ?(?:not|n't|never)\b",
        "not never mustn't mayn't shouldn't shalln't",
        "",
    ),
    (r"\b(?:cannot|can't) be \w+", "cannot can't", ""),
    (
        r"\b(?:not|never) (?:be )?(?:allowed|permitted|acceptable)\b",
        "allowed permitted acceptable",
        "",
    ),
    (
        r"\b(?:forbidden|prohibited|off[- ]limits|banned|not an option|must stay un\w+)\b",
        "forbidden prohibited limits banned option stay",
        "",
    ),
    (r"\bnever (?:be |get |\w+ )", "never", ""),
    (r"\bno longer (?:accept|support|allow|offer|take|use)\b", "longer", ""),
    (
        r"\b(?:under|in) no (?:circumstances?|event|case|condition)\b|\bon no account\b|\bby no means\b|\bnot under any (?:circumstances?|condition)\b",
        "circumstance circumstances event case condition account means",
        "",
    ),
)
OBLIGES = (
    (
        r"^(?!(?:i|it|that|this)\b)(?!we (?:have|need) to\b).*\b(?:must|has to|have to|needs? to|shall|is required|are required|required to|mandatory)\b",
        "must has have need needs shall required mandatory",
        "",
    ),
    (
        r"^(?:always|only|make sure|ensure|be sure to|remember to|stick to)\b",
        "",
        "always only make ensure be remember stick",
    ),
    (r"^(?!(?:i|i'm|we)\b).*\balways\b", "always", ""),
    (
        r"\b(?:at most|at least|no more than|not more than|no later than|not exceed)\b",
        "most least more later exceed",
        "",
    ),
    (
        r"^(?!(?:i|it|that|this|there|what|we)\b)[^,]{2,80}\bshould (?!be (?:able|enough|ok|easy|good|fine|helpful|great))",
        "should",
        "",
    ),
    (r"^(?:every|each|all) .{2,60} (?:gets?|needs?|has|have|is|are)\b", "", "every each all"),
    (
        r"\b(?:under|below|within|above|over) (?:\w+ )?(?:\d|[$€£])",
        "under below within above over",
        "",
    ),
    (
        r"^(?:ask|check with|wait for|get) .{2,60} (?:before|until|first)\b",
        "",
        "ask check wait get",
    ),
    (
        r"\b(?:without|unless|until) .{0,40}\b(?:approv\w+|consent|permission|review\w*|confirm\w*|sign-off)\b",
        "without unless until",
        "",
    ),
    (
        r"\bonly (?:ever |be )?(?:\w+ )?(?:\w+ )?(?:through|via|by|on|in|at|with|after|before|from|for)\b",
        "only",
        "",
    ),
    (r"\bis company policy\b", "policy", ""),
    (
        r"^(?:use|put|send|export|deliver|return|print|report|write|store|format|name|save|keep|show|render|log|run|include|round|sort) .{2,80} (?:in|as|with|under|before|after|for|to)\b",
        "",
        "use put send export deliver return print report write store format name save keep show render log run include round sort",
    ),
)
CONDITIONAL = r"(?:if|when|whenever|once|unless|in case|before|after|as soon as)\b"
THEN = (
    r",\s*(?:then )?(?:please )?(?:never|always|do not|don't|you (?:must|should|need|may)|stop|ask|escalate|refuse|wait|use|call"
    r"|tell|notify|report|check|run|make|say|send|contact|inform|warn|abort|cancel|retry|skip|write|keep|go|switch|fall back)\b"
    r"|\b(?:must|always|never|do not|don't)\b"
)
RISKS = (
    r"reveal|disclos|\bshar|leak|expos|secret|passw|credential|api key|access key|private|personal|phone|confidential|sensitive|\bpii\b"
    r"|delet|\bdrop\b|wipe|remov|destroy|overwrit|production|\bprod\b|force|\bpush|commit|deploy|restart|shut ?down|\bpay\b|payment"
    r"|refund|transfer (?:money|funds|any)|purchas|\bcharg|\bsend\b|e-?mail|upload|external|outside|third part|untrusted|execut|shell|sudo|\brm\b"
    r"|harm|danger|injur|safety|emergency|\bgas\b|\bfire|flame|electric|medic|\bdose|consent|approval|permission|supervisor"
    r"|legal|weapon|no circumstance|no account|customer id|patient|address|photo|powered|escalat|migrations?\b"
)
WISHES = (
    r"^(?:i|we|(?:the |our |my )?(?:user|client|customer|boss|team|wife|husband|partner|manager))(?:'d| would| do)?(?: really| strongly| generally| usually| always| also| much| rather| absolutely| just)*"
    r" (?:(?:prefers?|likes?|loves?|enjoys?|hates?|dislikes?|wants?|needs?|favou?rs?|rather|can't stand|(?:don't|doesn't|do not|does not) (?:like|want|need))"
    r" (?!to\b|you\b|it\b|this\b|that\b|help\b|some\b|somebody\b|someone\b|your\b|the (?:new )?(?:one|idea|look|way|sound|plan)\b|how\b|when\b|what\b)|rather \w+)"
    r"|^(?:i|we)(?:'d| would) (?:rather|prefer to|prefer) \w"
)
TRAITS = (
    r"(?:i'm|i am|we're|we are|(?:my|our|two|three|four|some|one|most|half) [\w' ]{2,30} (?:is|are)) (?:a |an |both |all )?(?:strictly |mostly )?"
    r"(?:vegetarian|vegan|lactose|gluten|celiac|diabetic|pregnant|left-handed|right-handed|colou?r-?blind|deaf|blind|dyslexic|kosher|halal|muslim"
    r"|jewish|hindu|christian|retired|married|divorced|widowed|beginner|intolerant|afraid of|wheelchair)"
)
WISHED_WAY = r"(?:please |kindly |from now on )?(?:keep|make|write|answer|reply|respond|use|give|be|stick|speak|show|send|present|format|explain|address|call)\b"
FOR_ME = r"(?:please )?(?:show|give|send|tell|ask|offer|present|remind) (?:me|us)\b.{0,60}\b(?:always|every|each|at most|at least|only|one|two|no|without|\d)"
DECIDES = (
    r"\b(?:we|i|they|the team|everyone|management|the board)(?:'ve| have|'re| are|'ll| will| all| both)?(?: just| also| all| both| now| finally)*"
    r" (?:agreed|decided|settled|chose|chosen|picked|opted|went (?:with|for)|going (?:with|for)|go (?:with|for)|committed to|selected|calling|switched|migrated)\b"
    r"|\b(?:decision|plan|agreement|verdict) (?:is|was|stands)\b|\bis the plan$|^(?:let's|let us) (?:use|go|make|keep|take|stick|do|call|name|store|switch|move|set|have|run|write|target)\b"
    r"|\b(?:is|are|been|was|were|it's) (?:settled|decided|agreed)\b|\b(?:we|i)(?:'ll| will| shall) (?:use|go with|keep|store|call|name|stick|deploy|migrate|ship)\b"
    r"|^(?:use|go with|choose|pick|switch to|stick with|opt for) (?!it\b|this\b|that\b)\w"
)
AIMS = (
    r"\bnext (?:step|task|up|thing|milestone)s?\b|\b(?:goal|aim|objective|task|focus|priority|milestone)s? (?:is|are|now|remains)\b|\b(?:current|main) (?:task|goal|job)\b"
    r"|\b(?:outstanding|remaining|pending|blocked|waiting for|awaiting|in progress|still open|left to do|to be done|open question)\b"
    r"|\b(?:is|are|was|were|been|now|'re|'s) (?:all |now |almost |nearly |still |half |partly |mostly )?(?:done|finished|completed?|merged|fixed|resolved|implemented|failing|broken|passing|blocked|deployed|reviewed|approved|rejected|unpushed|parked)\b"
    r"|\bworking on\b|\bbased on\b|\brebased\b|\bchecked out\b|\bfailing (?:test|case|build)|\bwe suspect|\bstill (?:fails?|needs?|missing)\b"
)
AIMS_WITH_VALUE = r"(?:i|we)(?:'re| are|'m| am)? (?:want|need|plan|aim|have|hope|try|trying|going|would like|'d like) to\b"
TASKS = (
    r"(?:fix|build|implement|migrate|refactor|rename|add|create|update|upgrade|book|order|reserve|send|call|find|test|investigate"
    r"|debug|review|release|publish|finish|start|focus on|install|configure|set up|write|prepare|schedule|register|buy|remove|deploy)\b"
)
DEADLINES = r"\b(?:deadline|due|must|no later than|has to|have to)\b"
UNSURE = (
    r"\b(?:maybe|perhaps|might|probably|i think|i guess|i believe|i suppose|not sure|i wonder|hopefully|seems?|looks like|imagine"
    r"|for example|e\.g\.|such as|as if|let me|shall we|could|would be|i hope|i'm afraid|apparently|what if|in theory|pretend|hypothetical\w*)\b"
)
TOLD = r"\b(?:(?<!i )(?<!we )(?<!be )(?:says?|said|states?|claims?|claimed|tells?|told|wrote|writes|reads|asks|asked|according to|demands?|instructs?|instructed|pasted|quote[sd]?))\b"
CHATTER = r"^(?:i'll|i will|i'm going|i am going|let me|let's (?:see|look|get|start|begin|talk|go through|go over)|here(?:'s| is| are)|hope|looking forward|thank)\b|^(?:hello|hi|dear)\b"
BUSY = (  # what begins with what somebody does
    r"(?!waiting|working|pending|nothing|something|everything|anything|during|staging|building|meeting|training|testing|evening|wedding|ceiling|painting|shipping|billing|pricing"
    r"|parking|heating|booking|filing|marketing|engineering|recording|setting|rating|landing|spring|string|king|lighting|catering|housing|flooring|bearing)\w+ing\b(?!.*\b(?:is|are|was|were|must|has|starts?|begins?)\b)"
)
FORMER = r"^(?:the|our|my) (?:old|previous|former|other|last) (?!.*\d).{2,60}\b(?:is|was|are|were|no longer|stopped)\b"
VAGUE = r"^(?:the|our|my) [^\d]{2,60}? (?:has |have |was |is |just )*(?:rotated|changed|been (?:changed|updated|rotated))$"
MARKS = (
    r"\b(?:now|from now on|actually|instead|updates?:|updated?|chang(?:e|es|ed)|moved|switch(?:ed)?|new|no longer|any ?more|correction|replace(?:s|d|ment)?|replacing"
    r"|rotat(?:e|es|ed|ing|ion)|rather than|as of|since|went (?:up|down)|raised|lowered|pushed|slipped|postponed|make (?:it|that)|took over"
    r"|taking over|takes over|handed over|revised|rescheduled|from \w+ on|retired|rebased|checked out|flashed|upgraded|migrated|it used to be|slipped)\b"
)
REVISES = (  # that a value is not what it was
    r"\b(?:these days|already|henceforth|any longer|extended|stretched|stricter|gone up|gone down|cut to|may now|renegotiated"
    r"|tightened|relaxed|doubled|halved|tripled|brought forward|put back|(?:till|until) further notice|after all|turn(?:s|ed) out"
    r"|chang\w* (?:his|her|their|my|our|its) minds?|(?:starting|effective|beginning) (?:in|today|tonight|tomorrow|next|with|on|from|now)"
    r"|from (?:today|tonight|tomorrow|next|this|the (?:first|next|beginning|start)))\b"
)
MAY_REVISE = (  # that it may be another than it was
    r"\b(?:only|then|therefore|hence|thus|wrong|higher|bigger|smaller|shorter|longer|later|earlier|sooner|so (?:it's|it is|that's"
    r"|they're|we|the|let's|now)|let's|have them|has to be|make it|give it|agreed on|settled on)\b"
)
LABELS = {  # heads of labels, and what stands behind them
    "rule": "rule",
    "rules": "rule",
    "policy": "rule",
    "constraint": "constraint",
    "constraints": "constraint",
    "requirement": "constraint",
    "requirements": "constraint",
    "restriction": "constraint",
    "limitation": "constraint",
    "decision": "decision",
    "decided": "decision",
    "agreed": "decision",
    "fact": "fact",
    "facts": "fact",
    "goal": "goal state",
    "objective": "goal state",
    "state": "goal state",
    "status": "goal state",
    "todo": "goal state",
    "preference": "preference",
    "preferences": "preference",
}
QUALIFIERS = """
    hard soft strict safety security user personal key important golden house team project final design customer client my
    our general goal current task technical business critical known new
    """
SAFE_QUALIFIERS = "safety security"
SPEAKERS = {
    "user": "person", "human": "person", "customer": "person", "assistant": "assistant", "ai": "assistant",
    "agent": "assistant", "bot": "assistant", "tool": "tool", "function": "tool", "observation": "tool", "tool result": "tool",
    "tool output": "tool", "function result": "tool", "function output": "tool", "system": "system", "developer": "system",
}  # fmt: skip
FORGETS = r"(?:forget|ignore|scrap|drop|skip|never mind|disregard|cross off|cross out|leave out|strike|withdraw|discard)(?: about)?(?: what i said about)?(?: the (?:thing|idea|plan|business|part|bit|stuff) (?:with|about|of|for))? (?P<what>(?:the |my |our |that |any )?[\w][^,;]{1,80})(?:[,;] (?P<rest>.*))?"
ENDS = (
    r"(?P<what>.{2,80}?)(?: (?:is|are|was|were|has been|have been|got)|'s|'re)(?: now| all)? (?:cancell?ed|off|off the table|dropped|scrapped|obsolete|void|called off|revoked|withdrawn|no longer (?:valid|needed|relevant|necessary|required|true|in force|an issue|planned))(?:[,;] .*)?"
    r"|(?:we |i )?no longer (?:need|require|want|use|have|accept|offer|support|do|work with) (?P<what2>.{2,80}?)|(?:we |i )?(?:don't|do not) (?:need|require|want) (?P<what5>.{2,80}?) any ?more"
    r"|there is no (?P<what3>.{2,60}?) any ?more"
    r"|(?:cancel|call off|remove) (?P<what4>(?:the|my|our) .{2,60})"
)
CORRECTED = r"(?:(?:let's )?make (?:it|that)|change (?:it|that) to|i (?:mean|meant)|(?:it|that) should be|rather|better) (?P<value>.{1,60})"
WITHOUT_OBJECT = r"(?P<verb>(?:never|do not|don't) \w+) (?P<when>(?:without|unless|before|until|after|except|by more)\b.*)"
POINTS = r"\b(?:it|them|this|those|these)\b"
DIFFERENT = r"(?i:\b(?:instead of|rather than|in place of|replac(?:e|es|ed|ing)|no longer|not)) (?P<old>[\w.#/@-]+(?: [A-Z\d][\w.-]*)*)"
# Of which one stands in whatever the pattern of that name matches.
WORDS = {
    "TOLD": "says say said states state claims claim claimed tells tell told wrote writes reads asks ask asked according demands"
    " demand instructs instruct instructed pasted quote quoted quotes",
    "DECIDES": "agreed decided settled chose chosen picked opted went going go committed selected calling switched migrated"
    " decision plan agreement verdict let's let use choose pick switch stick opt use keep store call name deploy migrate ship",
    "AIMS": "next goal goals aim aims objective objectives task tasks focus priority priorities milestone milestones job outstanding"
    " remaining pending blocked waiting awaiting progress open left done finished completed complete merged fixed resolved"
    " implemented failing broken passing deployed reviewed approved rejected unpushed parked working based rebased checked suspect"
    " still",
    "UNSURE": "maybe perhaps might probably think guess believe suppose not wonder hopefully seem seems looks imagine example e g such as"
    " let shall could would hope i'm apparently what theory pretend hypothetical hypothetically",
    "MARKS": "now actually instead updates update updated changes change changed moved switch switched new no any anymore correction"
    " replaced replaces replace replacing replacement rotated rotate rotates rotating rotation rather as since went raised lowered pushed slipped postponed make took taking takes"
    " handed revised rescheduled from retired rebased checked flashed upgraded migrated it",
    "VAGUE": "rotated changed updated",
    "FORMER": "old previous former other last",
    "WISHES": "prefer prefers like likes love loves enjoy enjoys hate hates dislike dislikes want wants need needs favor favors"
    " favour favours rather stand",
    "AIMS_WITH_VALUE": "want need plan aim have hope try trying going like",
    "ENDS": "canceled cancelled off dropped scrapped obsolete void called revoked withdrawn longer more anymore cancel call remove",
    "CORRECTED": "make change mean meant should rather better",
    "POINTS": "it it's it'd it'll he he's she she's they they're them this those these",
    "DIFFERENT": "instead rather place replaces replaced replace replacing no not",
}
# With one of which whatever the pattern of that name matches begins.
FIRST = {
    "CHATTER": "i'll i i'm let let's here here's hope looking thank hello hi dear",
    "FORMER": "the our my",
    "CONDITIONAL": "if when whenever once unless in before after as",
    "TRAITS": "i'm i we're we my our two three four some one most half",
    "WISHED_WAY": "please kindly from keep make write answer reply respond use give be stick speak show send present format"
    " explain address call",
    "FOR_ME": "please show give send tell ask offer present remind",
    "AIMS_WITH_VALUE": "i i'm we we're",
    "TASKS": "fix build implement migrate refactor rename add create update upgrade book order reserve send call find test"
    " investigate debug review release publish finish start focus install configure set write prepare schedule register buy remove"
    " deploy",
    "WITHOUT_OBJECT": "never do don't",
    "FORGETS": "forget ignore scrap drop skip never disregard cross leave strike withdraw discard",
}
