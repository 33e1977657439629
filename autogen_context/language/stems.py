"""Bring the forms of an English word together: ``running``, ``ran`` and ``runs`` are all ``run``.

Promise: pure and quick; a stem is never longer than its word but for irregular forms. A stem need not be a word: it is
compared with stems, never shown. Words of other languages keep their letters but for a final that looks English.
"""

LEAST_STEM = 2  # letters that an ending leaves at least
LEAST_UNDOUBLED = 4  # shorter words keep a double letter at their end: add, egg

ENDINGS = {  # what makes another word of a word, and the letters that must be left before it
    "ment": 4,
    "ness": 4,
    "ful": 4,
    "able": 4,
    "ly": 4,
    "al": 5,
    "er": 4,
    "or": 4,
    "sion": 3,
    "tion": 3,
    "ate": 5,
    "at": 5,
}
KEPT_OF_ENDING = {"sion": "s", "tion": "t"}  # version: vers, creation: creat

IRREGULAR = {
    form: word
    for word, *forms in map(
        str.split,
        """
        become became|begin began begun|break broke broken|bring brought|build built|buy bought|catch caught
        |choose chose chosen|come came|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten
        |fall fell fallen|feed fed|feel felt|fight fought|find found|fly flew flown|forget forgot forgotten
        |get got gotten|give gave given|go went gone|grow grew grown|hear heard|hide hid hidden|hold held
        |keep kept|know knew known|lead led|leave left|lose lost|make made|mean meant|meet met|pay paid
        |ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold
        |send sent|show shown|sing sang sung|sit sat|sleep slept|speak spoke spoken|spend spent
        |stand stood|steal stole stolen|swim swam swum|take took taken|teach taught|tell told|think thought
        |throw threw thrown|understand understood|wake woke woken|wear wore worn|win won|write wrote written
        |child children|man men|woman women|person people|foot feet|tooth teeth|mouse mice
        |mother mom mum|father dad
        """.replace("\n", " ").split("|"),
    )
    for form in forms
}


def stem(word: str) -> str:
    """What the forms of a word share.

    Args:
        word: letters in lower case.

    Source:
        The first steps of Porter (1980), with fewer endings and a table of irregular forms;
        docs/decisions/0007-relevance.md.
    """
    one = singular(word)
    return final_of(without_endings(without_inflection(IRREGULAR.get(one, one))))


def singular(word: str) -> str:
    """Without the s of a plural or of a verb."""
    if len(word) < LEAST_STEM + 1 or word[-1] != "s" or word[-2] in "sui":
        return word
    if len(word) > LEAST_STEM + 2 and word.endswith("ies"):
        return word[:-3] + "y"
    sibilant = len(word) > LEAST_STEM + 2 and word.endswith(("ses", "xes", "zes", "ches", "shes"))
    return word[:-2] if sibilant else word[:-1]


def without_inflection(word: str) -> str:
    """Without ``ing`` or ``ed``, where a syllable is left."""
    if word.endswith("ied") and len(word) > LEAST_STEM + 2:
        return word[:-3] + "y"
    rest = word[:-3] if word.endswith("ing") else word.removesuffix("ed")
    if word.endswith("eed") or len(rest) < LEAST_STEM or not has_vowel(rest):
        return word
    return rest


def has_vowel(letters: str) -> bool:
    """Whether these letters can be a syllable."""
    return not {"a", "e", "i", "o", "u", "y"}.isdisjoint(letters)


def without_endings(word: str) -> str:
    """Without the endings that make nouns, adjectives and adverbs, one after the other."""
    for ending, least in ENDINGS.items():
        if word.endswith(ending):
            rest = undoubled(word[: -len(ending)])
            if len(rest) >= least:
                return without_endings(rest + KEPT_OF_ENDING.get(ending, ""))
    return word


def final_of(word: str) -> str:
    """Without a mute e and a double letter, and with i for y."""
    short = word[:-1] if len(word) > LEAST_STEM and word[-1] == "e" else word
    if len(short) > LEAST_STEM and short[-1] == "y":
        return short[:-1] + "i"
    return undoubled(short)


def undoubled(word: str) -> str:
    """Without the second of two equal consonants at its end."""
    if len(word) >= LEAST_UNDOUBLED and word[-1] == word[-2] != "e":
        return word[:-1]
    return word
