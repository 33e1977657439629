"""Remove secrets from a text before anything else reads it (F22).

Secrets are recognized by a telling name, a well-known format or the look of a quoted value; docs/decisions/0017-project-context.md.
"""

import math
import re
from collections import Counter

HIDDEN = "[hidden]"

LEAST_CHARS = 4  # of a quoted value with a telling name
LEAST_KEY_CHARS = 6  # of a value that looks like a key
LEAST_BITS = 3.5  # entropy per character of a value without a telling name; words have less

STRONG = r"passw(?:or)?d|passphrase|passwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|credentials?"
WEAK = r"token|pwd|auth|(?:encryption|signing|account|shared|master)[_-]?key"
HINTS = ("passw", "passphrase", "secret", "key", "credential", "token", "pwd", "auth")
PRIVATE = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z ]{0,40}-----|\Z)"
)
FORMS = re.compile(
    r"""
    \b(?:AKIA|ASIA)[0-9A-Z]{16}\b                                      # AWS
    | \b(?:gh[opsur]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|glpat-[\w-]{16,80})
    | \b(?:sk|pk|rk)[-_](?:[a-z]{2,10}[-_]){0,3}[A-Za-z0-9_-]{16,255}    # OpenAI, Anthropic, Stripe
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,255} | \bAIza[\w-]{30,60} | \bya29\.[\w-]{20,255}
    | \b(?:hf|npm)_[A-Za-z0-9]{20,80} | \bpypi-[\w-]{20,255}
    | \beyJ[\w-]{10,2000}\.eyJ[\w-]{10,2000}\.[\w-]{10,2000}             # a signed token of JSON
    | (?<=://)[^\s/:@'"<>{}$]{0,80}:(?!pass(?:word)?@)[^\s/@'"<>{}$]{3,200}(?=@)           # in an address
    | (?<=[Bb]earer\ )[A-Za-z0-9._~+/-]{16,2000}=*
    """,
    re.VERBOSE,
)
FORM_HINTS = (  # every match of ``FORMS`` contains one of these
    *("AKIA", "ASIA", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "_pat_", "glpat-", "xox", "AIza"),
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ya29.", "hf_", "npm_", "pypi-", "eyJ", "://"),
    "earer",
)
NAMED = re.compile(
    rf"""
    (?P<name>(?:(?P<strong>{STRONG})|{WEAK})[\w-]{{0,40}})
    (?P<sign>["'\]\)]{{0,3}}[ \t]*+(?::[ \t]*+[A-Za-z_&][\w.|\[\]<>&?, \t]{{0,60}}?)?[ \t]*+(?:=>|:=|[=:,]|(?<=[ \t]))[ \t]*+)
    (?:[rbuRBU]?(?P<quote>["'`])(?P<quoted>(?:(?!(?P=quote)).){{1,1000}})(?P=quote)
      |(?P<bare>[A-Za-z0-9+/_.~!@#%^&*=-]{{{LEAST_KEY_CHARS},1000}})(?=[\s,;"']|$))
    """,
    re.VERBOSE | re.IGNORECASE,
)
SHELL = re.compile(
    rf"(?P<lead>(?:^|(?<=[\s`;]))[A-Z0-9_]{{0,60}}(?:{(STRONG + '|' + WEAK).upper()}|KEY)[A-Z0-9_]{{0,60}}=)"
    r"(?P<value>[^\s\"'`#][^\s#`]*)"
)
UNNAMED = re.compile(r"""(["'])([A-Fa-f0-9]{32,128}|[A-Za-z0-9+/_-]{32,200}={0,2})\1""")
PLACE_HOLDER = re.compile(
    r"[<${%]|\.\.\.|…|\*\*\*|xxx|(?:^|[_\W])(?:your|my|change|example|placeholder|dummy|none|null|true|false|todo|os\.environ)",
    re.IGNORECASE,
)


def without_secrets(text: str) -> str:
    """Return a text with everything that looks like a secret replaced."""
    text = PRIVATE.sub(HIDDEN, text) if "PRIVATE KEY" in text else text
    text = UNNAMED.sub(unnamed_hidden, text)
    lines = text.split("\n")
    for at, line in enumerate(lines):  # most have no known format or telling name
        if any(hint in line for hint in FORM_HINTS):
            lines[at] = FORMS.sub(HIDDEN, line)
        lowered = line.lower()
        if any(hint in lowered for hint in HINTS):
            lines[at] = NAMED.sub(named_hidden, SHELL.sub(shell_hidden, lines[at]))
    return "\n".join(lines)


def shell_hidden(found: re.Match[str]) -> str:
    """Hide the value of ``export API_KEY=…`` unless it is a placeholder or taken from elsewhere."""
    value = found["value"]
    hides = len(value) >= LEAST_KEY_CHARS and not PLACE_HOLDER.search(value) and "(" not in value
    return found["lead"] + HIDDEN if hides else found[0]


def named_hidden(found: re.Match[str]) -> str:
    """Hide the value of an assignment, default or entry whose name and value indicate a secret."""
    value, quote, name = found["quoted"] or found["bare"], found["quote"] or "", found["name"]
    hides = looks_like_a_key(value)
    if found["strong"] and quote and not found["sign"].lstrip("\"')]").startswith(","):
        words, own = (re.sub(r"[\W_]+", "", each).lower() for each in (value, name))
        is_name = re.fullmatch(STRONG + "|" + WEAK, value, re.IGNORECASE)
        hides |= len(value) >= LEAST_CHARS and not (is_name or words in own or own in words)
    if not hides or PLACE_HOLDER.search(value):
        return found[0]
    return f"{name}{found['sign']}{quote}{HIDDEN}{quote}"


def unnamed_hidden(found: re.Match[str]) -> str:
    """Hide a quoted value that looks random, whatever its name."""
    quote, value = found[1], found[2]
    shares = [times / len(value) for times in Counter(value).values()]
    bits = -sum(share * math.log2(share) for share in shares)
    is_path = value.count("/") + value.count("-") > len(value) // 8
    hides = looks_like_a_key(value) and not is_path and bits >= LEAST_BITS
    return f"{quote}{HIDDEN}{quote}" if hides else found[0]


def looks_like_a_key(value: str) -> bool:
    """Return True for a single word, long enough for a key, that mixes letters and digits."""
    is_word = not re.search(r"[\s(),;{}\[\]]", value)
    has_both = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
    return bool(len(value) >= LEAST_KEY_CHARS and is_word and has_both)
