"""Remove secrets from the text of a file before anything else reads it.

Promise: every path that sends the content of a file goes through ``without_secrets``; a line stays a line. Linear in the text.

Secrets are recognized by the form that a service gives its keys (the detectors of ``detect-secrets``), by its name, by
the place where credentials stand (an address, a query, an option of a command), and by looking random. A word without digits or
quotes is hidden only where no variable can stand (``ENTRIES``, ``COMMANDS``), or where the text is one of settings;
docs/decisions/0017-project-context.md.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

HIDDEN = "[hidden]"

LEAST_CHARS = 4  # of a quoted value whose name says so
LEAST_KEY_CHARS = 6  # of a value that looks like a key
LEAST_BITS = 3.5  # entropy per character of a value without a name; words have less
LEAST_DRAWN_CHARS, LEAST_BITS_DRAWN = 32, 4.5  # of a value with blanks and signs
LEAST_CHANGES = 0.35  # of neighbours of different kinds (upper, lower, digit) in an unquoted value; .62 if it is random
LEAST_DIGITS = 2  # of a key
MOST_DIGITS_OF_A_PORT = 5  # behind a host
LEAST_CHANGES_OF_TWO = 0.3  # the same with capitals or small letters alone; .4 if it is random
LEAST_DIGITS_OF_TWO = 4  # of a key in two parts
# Of detect-secrets: no secrets (addresses), slower than linear (tokens of JSON; its own form is below), names that ``NAMED`` has.
OTHERS = frozenset(
    ("IPPublicDetector", "JwtTokenDetector", "PrivateKeyDetector", "CloudantDetector")
) | {"SoftlayerDetector", "IbmCloudIamDetector", "IbmCosHmacDetector"}

STRONG = r"(?<![a-z])pass(?![a-z])|passw(?:or)?d|passphrase|passwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|credentials?"
WEAK = r"token|pwd|auth|salt|(?:encryption|signing|application|account|shared|master|nonce|logged_in)[_-]?key"
SECRET_NAME = re.compile(STRONG + "|" + WEAK, re.IGNORECASE)
HINTS = ("pass", "secret", "key", "credential", "token", "pwd", "auth", "salt")
PRIVATE = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----(?:[^-]|-(?!----)){0,20000}+(?:-----END [A-Z ]{0,40}-----)?"
)
FORMS = re.compile(
    r"""
    \b(?:AKIA|ASIA)[0-9A-Z]{16}\b                                      # AWS
    | \b(?:gh[opsur]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|glpat-[\w-]{16,80})
    | \b(?:sk|pk|rk)(?:-|_(?=\w{0,60}\d))(?:[a-z]{2,10}[-_]){0,3}[A-Za-z0-9_-]{16,255}    # OpenAI, Anthropic, Stripe; no macros
    | \bAIza[\w-]{30,60} | \bya29\.[\w-]{20,255}
    | \b(?:hf|npm)_[A-Za-z0-9]{20,80} | \bpypi-[\w-]{20,255}
    | (?<![\w-])eyJ[\w-]{10,2000}+\.eyJ[\w-]{10,2000}+\.[\w-]{10,2000}   # a signed token of JSON
    | \b(?:shp(?:at|ss|ca|pa)|dop_v1|doo_v1|gsk|whsec|lin_api|r8)_[A-Za-z0-9]{20,255}
    | \b(?:dapi[0-9a-f]{32} | xai-[A-Za-z0-9]{20,255} | xapp-\d-[A-Za-z0-9-]{20,255} | AGE-SECRET-KEY-1[A-Z0-9]{20,255})
    | \b(?:LTAI[A-Za-z0-9]{16,30} | pat[A-Za-z0-9]{14}\.[0-9a-f]{64} | dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64} | ops_eyJ[\w-]{20,2000}
      | \d/\d{13,19}:[0-9a-f]{32} | access_token\$\w{1,20}\$[0-9a-z]{16}\$[0-9a-f]{32})\b   # Alibaba, Airtable, Dynatrace, 1Password, Asana
    | (?<=webhook\.office\.com/webhookb2/)[\w@/-]{40,400}
    | (?<=://)[0-9a-fA-F]{32,128}(?=@)                                 # a token in an address
    | \$(?:[156y]|2[aby]|apr1)\$[A-Za-z0-9./$=,]{20,255}                 # a password's hash
    | (?<=[Bb]earer\ )[A-Za-z0-9._~+/-]{16,2000}=* | (?<=[Bb]asic\ )(?=[a-z]*+[^a-z\s])[A-Za-z0-9+/]{12,2000}=*
    """,
    re.VERBOSE,
)
PLACES = re.compile(  # where credentials stand, whatever they look like
    r"""
    (?<=://)[^\s/:@'"]{0,80}:(?P<address>[^\s/@'"]{3,200})(?=@)
    | (?:\s|^)(?:-u|--user|--login|--proxy-user)[ =]["']?[^\s:"']{1,80}:(?!//)(?P<user>[^\s"']{3,200})
    | (?:\s|^)--?(?:(?:[a-z-]{0,30}-|store|key)?(?:pass(?:word|phrase|wd)?|secret)|token|api-?key|auth-?token|access-?key)[ =]["']?(?P<option>[^\s"'-][^\s"']{3,200})
    | \becho\ (?:-n\ )?["']?(?P<piped>[^\s"'|]{3,200})["']?\ ?\|\ ?(?:sudo\ -S|(?:sudo\ )?chpasswd|[^\n|]{0,200}?--(?:password-)?stdin\b)
    | [?&;](?:[\w-]{1,20}-)?[Ss]ignature=(?P<signed>[^\s&"'<>`)\]}]{16,1000})
    | [?&;](?:[\w.-]{1,40})=(?P<query>[^\s&"'<>`)\]}]{16,1000})
    """,
    re.VERBOSE | re.MULTILINE,
)
NAMED = re.compile(
    rf"""
    (?P<name>(?:(?P<strong>{STRONG})|{WEAK})[\w-]{{0,40}}+)
    (?P<sign>["'\]\)]{{0,3}}[ \t]*+(?::[ \t]*+[A-Za-z_&][\w.|\[\]<>&?, \t]{{0,60}}?)?[ \t]*+(?:=>|:=|[=:,]|(?<=[ \t]))[ \t]*+)
    (?:[rbuRBU]?(?P<quote>["'`])(?P<quoted>(?:(?!(?P=quote)).){{1,300}})(?P=quote)
      |(?P<bare>[A-Za-z0-9+/_.~!@#%^&*=-]{{{LEAST_KEY_CHARS},400}}+)(?=[\s,;"']|$))
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A name that ends in a word for secrets (``db.password``, not ``password_policy``), and its value: in quotes, or a word.
ENDING = (
    r"(?P<name>[\w.:/-]{0,60}?(?:(?<![a-z])pass|passw(?:or)?d|passphrase|passwd|secret|requirepass"
    r"|(?:secret|api|access|private)[_.-]?key)\d?)(?![\w-])"
)
QUOTED = r"""(?P<quote>["'])(?P<value>(?:(?!(?P=quote))[^\n]){1,300})(?P=quote)"""
WORD = r"""(?P<value>[^\s"'`<>(){}\[\],;&$|*!\#-][^\s"'`<>(){}\[\],;&]{3,200})"""
ENTRIES = tuple(
    re.compile(form, re.IGNORECASE | re.MULTILINE)
    for form in (
        # XML: an element of this name, and one that has it in an attribute
        rf"<{ENDING}(?:\s[^<>\n]{{0,200}})?>(?P<value>[^<>\s]{{1,200}})(?=</)",
        rf"""\b(?:key|name)=["']{ENDING}["'][^<>\n]{{0,100}}>(?P<value>[^<>\s]{{1,200}})(?=</)""",
        # XML, JSON, YAML: name and value next to each other, or on two lines
        rf"""\b(?:key|name)["']? ?[:=] ?["']?{ENDING}["']?,?\s{{1,40}}["']?value["']? ?[:=] ?{QUOTED}""",
        rf"^[ \t]*+(?:- )?name: {ENDING}\s{{1,40}}value: {WORD}[ \t\r]*+$",
        # a call that sets it, or has a default for it, as PHP's define('DB_PASSWORD', '…')
        rf"""\b(?:define|(?:set|put|get)(?:_?env|_?property|_?default)?)\( ?["']{ENDING}["'], ?{QUOTED}""",
        # Dockerfile: a blank in place of the sign
        rf"^[ \t]*+ENV {ENDING} ++{WORD}",
        # .netrc, on one line or several
        rf"\b(?:machine\s{{1,9}}\S{{1,200}}|default)\s{{1,9}}login\s{{1,9}}\S{{1,200}}\s{{1,9}}(?P<name>password)\s{{1,9}}{WORD}",
        # JSON: a number; of "pass" it is a count
        rf"""["'](?!pass["']){ENDING}["'] ?: ?(?P<value>\d{{4,200}})\b""",
        # a field of an address, of what connects to a database (two forms), of an option
        rf"(?<=[?&]){ENDING}={WORD}",
        rf"""(?<=[;"'])(?P<name>password|pwd)={WORD}(?=;[\w ]{{1,40}}=|;?["'])""",
        rf"(?<==)[^\s=,;]{{1,100}} {ENDING}={WORD}",
        rf"(?:(?<= -D)|(?<= -e )|--[a-z-]{{1,30}}[ =]){ENDING}={WORD}",
        # SQL; a call of the method that sets it
        rf"\b(?P<name>identified) by {QUOTED}",
        rf"\bset_?(?P<name>password|passphrase|secret)\( ?{QUOTED} ?\)",
        # a line that only a shell or a file of settings has: no blank next to the sign, no quotes, nothing before and behind
        rf"^(?:export )?{ENDING}={WORD}[ \t\r]*+$",
    )
)
SETTING = re.compile(  # a line of a text of settings: .ini, YAML, properties, redis.conf
    rf"^[ \t]*+(?:- )?{ENDING}(?:[ \t]*+[:=]>?|[ \t])[ \t]*+{WORD};?[ \t\r]*+(?:(?<=[ \t])[#;].*+)?$",
    re.IGNORECASE | re.MULTILINE,
)
ANY_NAME = re.compile("pass|secret|key|pwd|identified", re.IGNORECASE)  # what all of these contain
FENCE = re.compile(r"^([ \t]*+```.*+)$", re.MULTILINE)
LEAST_SETTINGS = 0.7  # of the lines of such a text; code has calls, prose has sentences
MOST_CHARS_OF_A_SETTING = 300  # that are looked at
IS_SETTING = re.compile(
    r"""
    (?:-\ )? (?!(?:import|return|from|raise|yield|del|else|try|finally|pass)\b)
    ["']?[$\w./-]{1,80}+["']? (?:\s{0,40}+[:=]>?|\s) \s{0,40}+
    (?:"[^"]*+"|'[^']*+'|[^\s(){}"']*+(?:\s[^\s(){}"']++)?) [,;]? (?:\s{1,40}+[#;].*+)?
    | \[[^\]]*+\] | -\ .*+ | [{}\[\],]++ | ---
    """,
    re.VERBOSE,
)
# What stands behind such a name in a schema, a type, a switch or prose; a path and an address lead to a secret and are none.
OF_A_SCHEMA = re.compile(
    r"(?:str|string|text|bytes|bool|boolean|int|integer|number|float|object|array|any|null|nil|none|undefined|void|true|false"
    r"|required|requisite|optional|sufficient|include|default|enabled?|disabled?|files?|env|prompt|ask|hidden|plain|empty|invalid|unknown"
    r"|missing|value|flag|option|argument|parameter|switch)[?.]?"
    r"|(?:[.~]{0,2}/|https?:).*+|[a-z][\w.-]*+(?:/[\w.-]++){2,}+",
    re.IGNORECASE,
)
ARGUMENT = r"""(?:"([^"\n]{3,200})"|'([^'\n]{3,200})'|([^\s"'`|<>-][^\s"'`|<>]{2,200}))"""
COMMANDS = re.compile(  # programs, and what stands before a password that they are given
    "|".join(
        rf"\b(?:{programs})\s(?:[^\n]{{0,200}}?\s)?(?:{option}){ARGUMENT}"
        for programs, option in (
            ("curl", r"-u ?[\w.@-]{1,80}:(?!//)"),  # of other programs it is a number or a file
            ("mysql|mysqldump|mysqladmin|mariadb|7z|smbclient", "-p"),  # behind a blank: a database
            ("sshpass|mongo[a-z]{0,8}", "-p[ =]?"),
            ("(?:docker|podman|nerdctl|buildah|skopeo|registry|oras|oc|az|cf) login", "-p[ =]?"),
            ("redis-cli", "-a "),
            ("ldap[a-z]{3,10}", "-w "),
            ("unzip|zip|sqlcmd|bcp", "-P ?"),
            ("openssl", "-k |-pass(?:in|out)? pass:"),
        )
    )
)
SHELL = re.compile(
    rf"(?P<lead>(?:^|(?<=[\s`;]))[A-Z0-9_]{{0,60}}(?:{(STRONG + '|' + WEAK).upper()}|KEY)[A-Z0-9_]{{0,60}}=)"
    r"(?P<value>[^\s\"'`#][^\s#`]*)"
)
UNNAMED = re.compile(r"""(["'])([A-Fa-f0-9]{32,128}|[A-Za-z0-9+/_-]{32,200}={0,2})\1""")
BARE = re.compile(r"(?<![\w+=-])[A-Za-z0-9_+-]{20,200}+(?![\w+-])={0,2}")
# What stands for a value, as a whole: it is asked of the whole value, since a secret may contain any of it.
PLACE_HOLDER = re.compile(
    r"""
    [xX*.…_-]{3,} | [<{]?(?:\.\.\.|…)[>}]?
    | <[A-Za-z_][^<>]{0,100}> | <[A-Za-z_][A-Za-z_ .-]*+ | (?:[$#%]?\{[^{}]*+\}[-_:/.]?)++ | \{\{.* | \$[({].*
    | (?!\$apr1\$)(?:\$[A-Za-z_]\w*+[-_:/.]?)++ | \$\d | %(?:[A-Za-z_]\w*%|[A-Z_]+\d?) | %\(\w+\)[sd] | %[a-z]
    | os\.(?:environ|getenv)\b.* | .*(?:\.\.\.|…|\*\*\*)
    """,
    re.VERBOSE | re.DOTALL,
)
STANDS_FOR = r"changeit|change|your|my|example|placeholder|dummy|none|null|true|false|todo|insert|replace|enter|sample|here|x{3,}"
WORDS_WITH_IT = (
    r"password|passphrase|passwd|pass|secret|token|access|private|public|client|username|user|name|keys?|api|auth|app|id"
    r"|this|with|value|string|the|an?|it|me|in|to|sk|pk|ghp|hf|proj|live|test|db|\d{1,3}(?!\w)"
)
WORDS = re.compile(rf"(?:[\W_]|{STANDS_FOR}|{WORDS_WITH_IT})++", re.IGNORECASE)
STANDS = re.compile(STANDS_FOR, re.IGNORECASE)
# Some lines; of a long one up to 500 characters, to a comma or a blank where there is one: the forms of others are not linear.
PIECES = re.compile(
    r"(?:[^\n]{0,499}+\n){1,20}+|[^\n]{1,499}\Z|[^\n]{250,499}[,;]|[^\n]{250,499}\s|[^\n]{1,500}"
)
OF_A_PLACE = re.compile(
    r"[_-]?(?:name|file|path|dir|folder|field|header|url|uri|env|var)$", re.IGNORECASE
)
ADDRESS_HOLDERS = frozenset({"password", "pass", "passwd", "secret", "token"})


def without_secrets(text: str) -> str:
    """Return a text with everything that looks like a secret replaced."""
    text = PRIVATE.sub(HIDDEN, text) if "PRIVATE KEY" in text else text
    text = FORMS.sub(form_hidden, text)
    for form in (PLACES, COMMANDS):
        text = without(text, form, is_in_its_place)
    text = "".join(map(without_known, PIECES.findall(text)))
    for form in (UNNAMED, BARE):
        text = without(text, form, is_drawn)
    lines = text.split("\n")
    for at, line in enumerate(lines):  # most have no word for a secret
        lowered = line.lower()
        if any(hint in lowered for hint in HINTS):
            lines[at] = without(without(line, SHELL, is_exported), NAMED, is_named)
    return without_entries("\n".join(lines))


def without(text: str, form: re.Pattern[str], is_secret: Callable[[re.Match[str]], bool]) -> str:
    """Return a text with what a form finds hidden where it is a secret: its last group, or all of it if it has none."""

    def hidden(found: re.Match[str]) -> str:
        if not is_secret(found):
            return found[0]
        whole, (start, stop) = found.start(), found.span(found.lastindex or 0)
        return found[0][: start - whole] + HIDDEN + found[0][stop - whole :]

    return form.sub(hidden, text)


def without_entries(text: str) -> str:
    """Return a text with the words replaced that stand for a secret in formats, where code would have a variable."""
    if not ANY_NAME.search(text):
        return text
    for form in ENTRIES:
        text = without(text, form, is_entry)
    parts = FENCE.split(text)  # a page of documentation has settings among prose
    return "".join(
        without(part, SETTING, is_entry) if SETTING.search(part) and is_of_settings(part) else part
        for part in parts
    )


def is_of_settings(text: str) -> bool:
    """Return True where most lines are a name and its value, so that a word is a value and no variable."""
    lines = [line[:MOST_CHARS_OF_A_SETTING].strip() for line in text.split("\n")]
    lines = [line for line in lines if line and line[0] not in "#;!"]
    return sum(map(bool, map(IS_SETTING.fullmatch, lines))) >= LEAST_SETTINGS * len(lines)


def without_known(text: str) -> str:
    """Return a text with the keys of known services replaced."""
    for form in known_forms():
        text = form.sub(form_hidden, text)
    return text


@cache
def known_forms() -> tuple[re.Pattern[str], ...]:
    """Return the forms that services give their keys, of the detectors of ``detect-secrets``."""
    # Imported when the first file is read: it takes a sixth of a second.
    from detect_secrets.core.plugins.util import (  # noqa: PLC0415
        get_mapping_from_secret_type_to_class,
    )
    from detect_secrets.plugins.base import RegexBasedDetector  # noqa: PLC0415

    found: list[type] = [*get_mapping_from_secret_type_to_class().values()]
    wanted = [each for each in found if each.__name__ not in OTHERS]
    forms: list[re.Pattern[str]] = []
    for each in sorted(wanted, key=lambda each: each.__name__):
        if issubclass(each, RegexBasedDetector):
            detector: Any = each()  # whose list has patterns of an unknown type
            forms += detector.denylist
    return tuple(forms)


def form_hidden(found: re.Match[str]) -> str:
    """Hide a known form: its groups, if it has any that took part, else the whole."""
    spans = [found.span(n) for n in range(1, found.re.groups + 1) if found[n]] or [found.span()]
    values = [found.string[start:stop] for start, stop in spans]
    if any(is_place_holder(value) or value.lower() in ADDRESS_HOLDERS for value in values):
        return found[0]
    first, last, at = min(spans)[0], max(stop for _, stop in spans), found.start()
    return found[0][: first - at] + HIDDEN + found[0][last - at :]


def is_in_its_place(found: re.Match[str]) -> bool:
    """Whether what stands where credentials do is no placeholder; of a query only what looks random."""
    group = found.lastgroup
    value = found[found.lastindex or 0]
    if group == "query":
        value = re.sub(r"%\w\w", "", value)
        return looks_random(value) and not is_stand_in(value)
    if group == "option":
        return OF_A_SCHEMA.fullmatch(value) is None and not is_stand_in(value)
    is_number = value.isdecimal() and len(value) <= MOST_DIGITS_OF_A_PORT
    is_id = is_number or f" {value}:{value}" in found[0]  # -u 1000:1000
    return not (group in ("user", None) and is_id) and not is_stand_in(value)


def is_stand_in(value: str) -> bool:
    """Whether a value is a placeholder, hidden already, or the word for one."""
    is_word = value.rstrip(".,").lower() in ADDRESS_HOLDERS
    return is_word or HIDDEN in value or is_place_holder(value)


def is_entry(found: re.Match[str]) -> bool:
    """Whether the value of an entry is no placeholder, no label and no word of a schema."""
    name, value = re.split(r"[.:/]", found["name"])[-1], found["value"]
    is_none = is_place_holder(value) or HIDDEN in value or OF_A_SCHEMA.fullmatch(value)
    return not (is_none or is_label(value, name))


def is_label(value: str, name: str) -> bool:
    """Return True for a value that says its name again, such as ``"password": "Password"``, or names a kind of secret."""
    words, own = (re.sub(r"[\W_]+", "", each).lower() for each in (value, name))
    return words in own or own in words or SECRET_NAME.fullmatch(value) is not None


def is_exported(found: re.Match[str]) -> bool:
    """Whether the value of ``export API_KEY=…`` is no placeholder and not taken from elsewhere."""
    value = found["value"]
    return len(value) >= LEAST_KEY_CHARS and "(" not in value and not is_place_holder(value)


def is_named(found: re.Match[str]) -> bool:
    """Whether name and value of an assignment, default or entry indicate a secret."""
    value, name = found["quoted"] or found["bare"], found["name"]
    if OF_A_PLACE.search(name) or is_place_holder(value):
        return False
    is_next = found["sign"].lstrip("\"')]").startswith(",")  # of a list
    if not found["quote"]:
        return looks_like_a_key(value) and not is_next
    is_strong = found["strong"] and not is_next and len(value) >= LEAST_CHARS
    is_said = is_strong and not is_label(value, name)
    return bool(is_said) or looks_like_a_key(value) or looks_salted(value)


def is_drawn(found: re.Match[str]) -> bool:
    """Whether a value looks random, whatever its name: in quotes (the second group) it may have fewer signs of that."""
    value = found[found.lastindex or 0]
    if not found.lastindex:
        return looks_random(value) and not is_place_holder(value)
    is_path = value.count("/") + value.count("-") > len(value) // 8
    return looks_like_a_key(value) and not is_path and bits(value) >= LEAST_BITS


def looks_random(value: str) -> bool:
    """Return True for a value that mixes letters and digits as no name does."""
    kinds = [kind_of(char) for char in value if char.isalnum()]
    changes = sum(one != other for one, other in pairwise(kinds)) / max(1, len(kinds) - 1)
    digits = kinds.count("digit")
    if len(set(kinds)) == len(KINDS):
        mixes = digits >= LEAST_DIGITS and changes >= LEAST_CHANGES
    else:  # commits, digests and UUIDs are hexadecimal
        mixes = digits >= LEAST_DIGITS_OF_TWO and changes >= LEAST_CHANGES_OF_TWO
        mixes = mixes and HEX.fullmatch(value) is None
    return mixes and bits(value) >= LEAST_BITS


HEX = re.compile(r"[0-9A-Fa-f-]+")
KINDS = ("digit", "upper", "lower")


def kind_of(char: str) -> str:
    """Return what kind of letter or digit it is."""
    return KINDS[0] if char.isdigit() else KINDS[1] if char.isupper() else KINDS[2]


def bits(value: str) -> float:
    """Return the entropy of a text per character."""
    shares = [times / len(value) for times in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)


def is_place_holder(value: str) -> bool:
    """Return True for a value that stands for another: a variable, a mask, or words of which one says so."""
    if PLACE_HOLDER.fullmatch(value):
        return True
    return WORDS.fullmatch(value) is not None and STANDS.search(value) is not None


def looks_salted(value: str) -> bool:
    """Return True for a text of all kinds of characters in which words are not to be seen, such as a salt."""
    kinds = {kind_of(char) for char in value if char.isalnum()}
    has_signs = sum(not char.isalnum() for char in value) > len(value) // 8
    is_long = len(value) >= LEAST_DRAWN_CHARS
    return is_long and has_signs and len(kinds) == len(KINDS) and bits(value) >= LEAST_BITS_DRAWN


def looks_like_a_key(value: str) -> bool:
    """Return True for a single word, long enough for a key, that mixes letters and digits."""
    is_word = not re.search(r"[\s(),;{}\[\]]", value)
    has_both = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
    return bool(len(value) >= LEAST_KEY_CHARS and is_word and has_both)
