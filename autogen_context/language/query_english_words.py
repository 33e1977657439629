"""The words that the English phrases name: given names, verbs of saying, times, spellings.

Promise: data only; ``query_rules`` says how it is read.
"""

GIVEN_NAMES = """
Adam Ahmed Aisha Alan Albert Alex Alexander Ali Alice Amanda Amelia Amir Amy Ana Andre Andrea Andrew Andy Angela Ann Anna
Anne Anthony Antonio Arthur Ashley Audrey Barbara Beatrice Ben Benjamin Beth Betty Bob Brian Bruno Calvin Camila Carl
Carla Carlos Carmen Caroline Catherine Charles Charlie Charlotte Chen Chloe Chris Christina Christine Christopher Claire
Clara Daniel Daniela Dave David Deborah Dennis Diana Diego Dmitri Donna Dorothy Dylan Edward Elena Eli Elizabeth Ella
Ellen Emil Emily Emma Eric Erik Ethan Eva Evan Evelyn Fatima Felix Fiona Florian Frances Francesca Fred Gabriel Gary
George Gina Giulia Greg Hannah Hans Harry Hassan Heather Helen Helena Henry Hiroshi Hugo Ian Ibrahim Igor Ines Ingrid
Irene Isaac Isabel Isabella Ivan Jacob Jake James Jamie Jan Jane Janet Jason Javier Jean Jeff Jennifer Jenny Jeremy
Jessica Jill Jim Joan Joanna Joe Johan John Jolene Jon Jonas Jonathan Jordan Jorge Jose Joseph Josh Joshua Juan Judy Julia
Julian Julie Karen Karl Kate Katherine Katie Keith Kelly Kevin Khalid Kim Kumar Kyle Laila Lara Larry Laura Lauren Lea
Leah Lena Leo Leon Leonard Liam Linda Lisa Liz Louis Louise Luca Lucas Lucia Lucy Luis Luke Lukas Magda Maja Marco Marcus
Margaret Maria Marie Mario Marta Martha Martin Mary Mateo Matt Matthew Maya Megan Mei Melanie Melissa Mia Michael Michelle
Miguel Mike Mila Mohammed Monica Nadia Nancy Natalie Natasha Nate Nathan Nicholas Nick Nicole Nina Noah Nora Oleg Olga
Oliver Olivia Omar Oscar Owen Pablo Pamela Paul Paula Pedro Peter Phil Philip Pierre Priya Rachel Rafael Raj Rebecca
Rita Robert Roger Ron Rosa Ruth Ryan Sam Samantha Samuel Sandra Sara Sarah Scott Sean Sebastian Sergei Sharon Simon Sofia
Sonia Sophia Sophie Stefan Stephanie Stephen Steve Steven Susan Sven Svetlana Tanya Tara Teresa Thomas Tim Timothy Tina
Tobias Tom Tony Valentina Vanessa Vera Veronica Victor Victoria Vincent Wei Wendy William Yasmin Yuki Yusuf Zoe
"""

WORDS = {
    "asker": "i|you|we",
    "asks": "what|which|who|whom|whose|where|when|how",
    "seeks": "what|which|who|whose|where|when (?:<aux>)|how (?:many|much|long|often)",
    "inquires": "what|which|who|whom|whose|where|why|how|when (?:<aux>)",
    "so_far": "so far|(?:up )?(?:to|until|till) (?:now|this point|here|date)",
    "given": r"(?-i:(?:" + "|".join(GIVEN_NAMES.split()) + r")(?! (?:the )?[A-Z]\w))",
    "adverb": "had|have|already|also|just|once|first|ever|originally|previously|earlier|both|all",
    "to_you": (
        "mentioned|(?:told|gave|sent|showed|asked) you|(?:described|explained|said|listed|shared) ..."
        " (?:before|earlier|already|at the (?:start|beginning))"
    ),
    "to_me": (
        "said|(?:told|gave|showed|sent|taught|promised|offered) (?:me|us)|mentioned|suggested|recommended|promised"
        "|proposed|quoted|advised"
    ),
    "talked": (
        "said|told|mentioned|gave|asked|described|listed|pasted|wrote|showed|used|talked|discussed|agreed|decided"
        "|settled|chose|picked|went with|came up with|spoke|chatted|planned|created|stayed|tried|set up|made|did"
        "|proposed|suggested|built|named|called|put|wanted|shared|sent|saw|saved|bought|visited|ordered|booked"
    ),
    "sums": (
        "summari[sz]e|summary|summing up|sum(?: \\w+)? up|recap|overview|gist|run-?down|highlights|nutshell|tl;?dr|wrap up"
        "|handover note|short version|condense|boil down|digest|synopsis|go over|(?:run|walk|take) me through|(?:key|main) (?:points|things|topics|takeaways|decisions|results|findings|conclusions)"
        "|briefly|in (?:short|brief|a (?:few words|sentence))"
    ),
    "conversation": (
        "(?:our|this|the|my|today's) (?:whole |entire |current )?(?:conversation|chat|talk|discussion|session|thread"
        "|progress|case|dialogue)(?! (?:api|bot|app|history table|id|storage|store|key|model|widget))"
    ),
    "ago": (
        "earlier|before|previously|last (?:time|week|month|night|session)|yesterday|the other day"
        "|at the (?:start|beginning)|a (?:while|moment|minute|few \\w+) ago"
    ),
    "answer": (
        "answers?|messages?|suggestions?|repl(?:y|ies)|responses?|solutions?|ideas?|proposals?|plan|versions?|emails?"
        "|explanation|recommendations?|points?|questions?|conversations?|chats?|talk|session|discussion|call|request"
    ),
    "in_hand": (
        "code|function|query|error|mistake|script|loop|program|options?|next|problem|best (?:option|bet|choice|chance)|test|build|computer|screen"
        "|internet|ip|chances?|rights"
    ),
    "famous": (
        "python|java|javascript|typescript|rust|react|angular|node|docker|kubernetes|linux|unix|windows|git|google|apple"
        "|microsoft|amazon|meta|tesla|nasa|openai|rome|greece|egypt|germany|france|england|britain|america|russia|china|japan"
        "|india|europe|africa|asia|einstein|newton|darwin|shakespeare|mozart|beethoven|napoleon|caesar|plato|people|humans"
        "|scientists|americans|dinosaurs"
    ),
    "public": (
        "begin|began|end|become|die|fall|open|close|come out|land|win|invent|discover|found|release|create|launch"
        "|publish|introduce|happen|appear|go extinct|break out|start|live|rule"
    ),
    "aux": "(?:do|does|did|has|have|had|is|are|was|were|will|would|could|might|should)(?:n't)?",
    "historic": (
        r"first|last|only|[a-z]{2,}est|most|war|wars|revolution|empire|century|ancient|king|queen|president|world|wrong"
    ),
    "habit": (
        "(?:currently |normally )?(?:like|keep|store|love|hate|prefer|play|drive|own|speak|live|work|wear|drink|collect|study|support|usually|come from|do for)"
    ),
}

SPELLING = {
    "u": "you",
    "ur": "your",
    "wat": "what",
    "wht": "what",
    "wut": "what",
    "wich": "which",
    "whats": "what's",
    "whos": "who's",
    "wheres": "where's",
    "whens": "when's",
    "didnt": "didn't",
    "dont": "don't",
    "cant": "can't",
    "remeber": "remember",
    "rember": "remember",
    "remmember": "remember",
    "rememeber": "remember",
    "mentionned": "mentioned",
    "metioned": "mentioned",
    "recomended": "recommended",
    "reccomended": "recommended",
    "sugested": "suggested",
    "yesterdy": "yesterday",
    "yestarday": "yesterday",
    "ealier": "earlier",
    "erlier": "earlier",
    "summerize": "summarize",
    "summerise": "summarise",
    "sumarize": "summarize",
    "sumarise": "summarise",
    "discused": "discussed",
}
