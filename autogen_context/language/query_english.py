"""What people say in English when they ask for the past, for a summary, or for neither.

Promise: data only; ``query_rules`` says how it is read. Rules that take a phrase out (an instruction to remember, a
question about the world) stand before those that they take it from.
"""

from autogen_context.language.query_english_words import SPELLING, WORDS
from autogen_context.language.query_rules import Language, Rule

OPENING = "^(?:(?:please|and|also|now|ok|okay|so|but|hey|hi|well|then) )*"
ASKING = "(?:(?:can|could|will|would) you (?:please )?)?"

KEEPING = Rule(
    kind="casual",
    reason="asks to keep something in mind",
    phrases=(
        f"{OPENING}{ASKING}remember (?:to|this|these|the following|that (?!time|day|story|thing|one|book|film))",
        rf"{OPENING}remember(?! (?:when|what|how|who|where|which) )[^?]*$",
        "please remember",
        "(?:don't|do not|never) (?:let me )?forget",
        "remind me (?:to|in|at|on|every|tomorrow|tonight|later|when|before|again (?:in|at|on|tomorrow))",
        f"{OPENING}{ASKING}(?:forget|ignore|disregard) (?:what|everything|all|that|about|the|my)",
        f"{OPENING}{ASKING}(?:keep in mind|bear in mind|note|make a note)",
    ),
)

SUMMING_UP = Rule(
    kind="summary",
    reason="asks for the whole in short",
    phrases=(
        (
            r"<sums>(?: ... <conversation>| ... <so_far>"
            r"| ... (?:what|where|all|everything|has) (?:that )?(?:<asker>(?:'ve|'d)?|(?:has )?been)(?: <adverb>)* \w+"
            r"| ... <asker>(?:'ve| have) \w+"
            r"| ... (?:all|everything|every) ... (?:we|you) \w+"
            r"| ... (?:we|you) ... (?:today|this (?:week|morning|evening))"
            r"| (?:all )?(?:the )?(?:\w+ )?(?:changes|decisions|steps|topics|points) ... \w+)"
        ),
        r"<conversation> ... <sums>",
        (
            r"(?:list|outline|review|recount|note)(?: down)? ... (?:what|everything|all|the (?:topics|decisions|changes|steps))"
            r" (?:that )?(?:we|you)(?:'ve)? \w+"
        ),
        r"(?:list|name|give me|show me) (?:all|every|everything)(?: the| of the)? ... (?:we|you) ... <so_far>",
        (
            r"^(?:(?:a|the|quick|short|brief|please|give|me|can|could|you|i|get|need|want|have|now|then) )*"
            r"(?:recap|summary|tl;?dr)(?: (?:please|of (?:this|that|it all)))?\W*$"
        ),
        r"what(?:'s| is| has| have| did| had)? (?:we|been|you|i)(?:'ve)? ... (?:<so_far>|in (?:total|all)|altogether|overall)",
        r"what ... (?:done|is|are|'s) ... <so_far>",
        r"what have (?:we|you) (?:(?:covered|accomplished|achieved)|(?:discussed|done|finished|completed|changed)\W*$)",
        r"(?:what|which|how much) (?:topics|progress|ground|points|subjects) (?:have|did) (?:we|you) \w+",
        r"how far (?:have|did|are) we \w+",
        r"what (?:did we ... today|have we been)",
        r"what(?:'s| is| has been|'s been) (?:been )?done and what(?:'s| is)? (?:left|open|missing)",
        r"where (?:do we stand|are we(?: now| at)?\W*$|were we\W*$)",
        r"(?:(?:bring|get) me up to (?:speed|date)|catch me up)",
        r"status (?:report|update) ... <so_far>",
    ),
)

REMEMBERING = Rule(
    kind="recall",
    reason="asks to remember",
    phrases=(
        "(?:you|we|anyone) (?:(?:still|even|perhaps|maybe|happen to|actually) )*(?:remember|recall|recollect)",
        rf"{OPENING}remember ",
        "recall (?:what|when|how|which|who|where|our|my) ",
        "(?:you|you've|you have) (?:forget|forgot|forgotten) (?:what|who|where|which|my|our|the|about|that)",
        "remind me",
        "(?:refresh|jog) my memory",
        "where (?:we|you|i) (?:left off|stopped|were)",
        "the \\w+ (?:that )?we were \\w+ing",
        "where did (?:we|you|i) (?:leave off|stop)",
        "(?:what|who|which|where) (?:was|were) <asker> ... \\w+ing",
        "what (?:was|were) <asker> \\w+ing",
        "(?:you|we) were (?:saying|telling|talking|discussing|going to)",
        "tell me (?:once )?again",
    ),
)

POINTING_BACK = Rule(
    kind="recall",
    reason="points at what was said or done before",
    phrases=(
        r"(?<!if\s)you(?:'ve|'d)?(?: <adverb>)* <to_me>",
        r"(?<!if\s)i(?:'ve|'d)?(?: <adverb>)* <to_you>",
        "we(?:'ve|'d)?(?: <adverb>)* (?:talked|spoke|chatted|discussed)",
        (
            "(?:as|like|what|which|everything|something|anything|where|who|how)"
            " <asker>(?:'ve|'d)?(?: <adverb>)* <talked>"
        ),
        r"(?:the|that|those|these)(?: [\w'-]+){1,4} (?:that |which )?(?:we|you)(?:'ve|'d)?(?: <adverb>)* <talked>",
        (
            r"(?:the|that)(?! way)(?: [\w'-]+){1,4} (?:that |which )?i(?:'ve|'d)?(?: <adverb>)* "
            "(?:said|told you|gave you|asked|described|listed|mentioned|wanted|had|set|chose|liked|picked)"
        ),
        r"as (?:we )?(?:discussed|agreed|promised|mentioned|said)(?! (?:in|by|on) (?:the|this|a))",
        "your (?:last|previous|earlier|first|second|original|initial) <answer>",
        "(?:our|my) (?:last|previous|earlier|first) <answer>",
        "(?:as|like|from|than) (?:before|earlier|last time|yesterday)",
        "(?:the )?last time <asker>(?! (?:can|could|may|will))",
        r"(?<!the\s)last time",
        "<asks> ... (?:we|you) ... <ago>",
        "(?:told|promised|offered) me ... <ago>",
        "<ago> ... (?:told|promised|offered) me",
        "i (?:spoke|talked) (?:to|with) <ago>",
        "(?:you|we) still have (?:the|my|that)",
        "still the (?:one|same)",
    ),
)

OF_A_PERSON = Rule(
    kind="recall",
    reason="asks about a person of the conversation",
    phrases=(
        (
            rf"(?:{OPENING}<aux> (?:\w+ and |both )?"
            r"|<asks>(?:'s| <aux>) "
            rf"|{OPENING}(?:(?:for|in|on|at|after|with|to|by|from|of) )?<inquires>(?= [^?]*\?)"
            r"(?! (?:\w+ ){0,2}(?:do|did|can|should|could|would|shall) <asker> )[^?]{1,120} "
            r"|according to )<given>"
        ),
    ),
)

OF_THE_WORLD = Rule(
    kind="casual",
    reason="asks about the world or about what is at hand",
    phrases=(
        r"(?:<asks>|why) (?:\w+ )?did (?!i |you |we |my |your |our )(?:[\w'.-]+ ){1,4}<public>",
        r"did (?-i:[A-Z][\w.]*(?: v[ao]n| de| da)? (?:[A-Z]\w|\d)[\w.]*)",
        "did <famous>",
        r"what did the (?:fox|compiler|interpreter)",
        r"did the (?:romans|dinosaurs|(?-i:[A-Z][a-z]+s))",
        "(?:what|where) did (?:i|we) (?:do|go|get) wrong",
        r"what did ... mean",
        r"what did you (?:have for|eat|think|dream|do (?:today|yesterday|last|this|at the|over))",
        "did you (?:know|sleep|see|watch|hear|eat|enjoy|have|like|mean|catch|get|miss)",
    ),
)

PAST = Rule(
    kind="recall",
    reason="asks for the past",
    phrases=(
        "(?:what|when) did",
        "(?:what|which|who|whom|whose|how (?:much|many|long|often)) ... did (?:<asker>|he|she|they|my|your|our)",
        "(?:where|how|who|why|which) did (?:<asker>|he|she|they|my \\w+ (?:say|tell|move|go|want))",
        "(?:what|which|who|whom|whose|where|why|how) ... did (?-i:[A-Z][a-z]+)(?! (?-i:[A-Z])) \\w+",
        "(?:did|didn't) (?:i|we|you)",
        "did (?:your|my|the) ... (?:tell|say|promise|mention|offer)",
        (
            "(?:have|haven't) (?:i|we|you) (?:ever |already |not |yet )*"
            "(?:told|talked|mentioned|discussed|tried|decided|done|shown|asked|given|spoken|used|said|already)"
        ),
        "have you already",
        "what happened (?:after|when|with|to) (?:<asker>|my|our|your)",
        "what have (?:i|you|we) \\w+",
        "<asks> ... have i \\w+(?:ed|en|t|n)",
        "how (?:many|much) ... do i (?:currently )?(?:have|own)",
        "who ... (?:recommended|gave|told|sent|sold|lent) ... me",
        (
            "(?:what|who|which|where|when|how (?:much|many)) (?:was|were)"
            " (?:my|our|your|his|her|their|it (?:that )?<asker>|that)"
        ),
        r"(?:what|who|where|when) (?:was|were) the (?-i:(?:(?!<historic>\b)[a-z'-]+\W*){1,8}$)",
        f"{OPENING}<seeks> ... (?:did|was|were|had) ... (?:me|my|us|our|we|you|your)",
        f"{OPENING}<seeks> ... (?:we|you)(?: <adverb>)* \\w+[^e\\W]ed",
        "<asks> ... (?:was|were|is|did) ... again\\W*$",
        "<asks>'s ... again\\W*$",
    ),
)

PERSONAL = Rule(
    kind="recall",
    reason="asks for something personal that was told",
    phrases=(
        (
            "(?:what|who|where|when|which|how (?:old|tall|many|much))(?:'s|'re| is| are| was| were)"
            r" (?:(?:the )?(?:\w+ ){1,2}of )?my (?!(?:\w+ )?<in_hand>\b)"
        ),
        "(?:where|what|which|who|when|how) ... do i <habit>",
        "(?:what|which|who) ... (?:is|are|was|were) my (?!(?:\\w+ )?<in_hand>\\b)",
        "(?:what|which|who) of (?:my|our)",
        "(?:what|which|when|where|who)(?:'s| is| are| was| were) our",
        "do i (?:<habit>|take|eat|owe|(?:normally|always|typically|currently|still|often) (?!need|have to))",
        "am i (?:allergic|vegetarian|vegan|married|single|left-handed|right-handed|insured|registered)",
        r"who am i\W*$",
        "(?:know|tell me) (?:what|where|who|when|which|how) i (?!can|could|should|would|must|need)",
        "you (?:still |already )?know (?:my|about me)",
        "on file for me",
    ),
)

ENGLISH = Language(
    words=WORDS,
    spelling=SPELLING,
    rules=(
        KEEPING,
        SUMMING_UP,
        REMEMBERING,
        POINTING_BACK,
        OF_A_PERSON,
        OF_THE_WORLD,
        PAST,
        PERSONAL,
    ),
)
