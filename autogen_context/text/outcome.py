"""How a program or tool call ended, as far as its output shows it: the one detector of failure for all rooms.

Promise: ``failed`` and ``succeeded`` are said on evidence alone, anything else is ``unknown``. An exit status goes before a test
runner's summary, that before the last lines; tests that passed are no success if a failure is the last word. Evidence is found by
its place (status in the frame, last word at the end, prefix of a line), so a text about failures is none. Linear time; of a long
output its ends are read.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from autogen_context.text.memo import remembered
from autogen_context.text.work import ends_of

Ending = Literal["failed", "succeeded", "unknown"]
Evidence = Literal["status", "fields", "tests", "lines", "nothing"]

ENDS_CHARS = (2_000, 8_000)  # read from the beginning and the end of an output
JSON_CHARS = 200_000  # longer results are not parsed
LINE_CHARS = 400  # of a line that is looked at; a longer one is cut
HEAD_LINES, TAIL_LINES = 4, 5  # where the frame of an output stands
LAST_LINES = 3  # that may be a program's last word
AFTER_CRASH = 4  # lines behind the report of a crash, such as its message and a hint
AFTER_TRACE = 1  # lines behind an exception that may be of its message; with more it went on
MOST_STATUS = 255  # a greater number that is returned is something else
OF_HTTP = range(200, 207)  # "return code: 200"
REMEMBERED = 256  # cache entries: each part of a turn asks for the same outputs
BRIEF_CHARS, BRIEF_LINES = 1_000, 20  # of an output that is nothing but a message

# A line that reports something bad, wherever it stands

NONE = r"(?<!\b0 )(?<!\b[Nn]o )"  # "no error" and "0 failed" are not errors
_ERROR = re.compile(
    rf"{NONE}(?i:\b(?:errors?|exceptions?|traceback|fail(?:s|ed|ing|ures?)?|fatal|panic(?:ked)?|critical|denied|refused"
    r"|abort(?:ed|ing)?|timed out|not found|no such|unable to)\b)(?!s?[ =:]+0\b)|[A-Za-z](?:Error|Exception|Failure)\b"
)
ERROR_PARTS = (  # one of them is in each line that the expression finds, and so below
    "error", "exception", "traceback", "fail", "fatal", "panic", "critical", "denied", "refused", "abort", "timed out",
    "not found", "no such", "unable",
)  # fmt: skip
_NAMED = re.compile(r"[a-z](?:Error|Exception)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOutcome:
    """How something ended, and the lines that show it."""

    ending: Ending = "unknown"  # unless the output has evidence
    lines: tuple[str, ...] = ()  # of a failure those that say why, the clearest last; else empty
    evidence: Evidence = "nothing"  # where that was found
    has_run: bool = True  # False if it was not even started: an unknown command, no tests

    @property
    def failed(self) -> bool:
        """True if it failed; false also where that is unknown."""
        return self.ending == "failed"

    @property
    def succeeded(self) -> bool:
        """True if there is evidence that it succeeded."""
        return self.ending == "succeeded"


UNKNOWN = ProgramOutcome()


@remembered(REMEMBERED)
def outcome_of(output: str, *, is_content: bool = False) -> ProgramOutcome:
    """Return how the call with this output ended.

    Args:
        output: all that came back, with the frame that a harness puts around it.
        is_content: the output shows what was looked up (a file, matches, a record), so that only its frame, or an output that is
            nothing but a message, says something about the call.
    """
    output = _COLOUR.sub("", output if len(output) <= JSON_CHARS else ends_of(output, *ENDS_CHARS))
    fields = fields_of(output)
    if fields is not None:
        return of_fields(fields, is_content=is_content)
    lines = lines_in(output)
    status = status_in(lines, is_content=is_content)
    if is_content and status is not None and status[0] == 1 and lines == [status[1]]:
        return UNKNOWN  # grep and diff say so that there is nothing
    if is_content:
        is_brief = len(output) <= BRIEF_CHARS and len(lines) <= BRIEF_LINES
        found = of_message(lines) if is_brief else UNKNOWN
    else:
        found = of_lines(lines)
    return weighed(status, found, lines)


def weighed(
    status: tuple[int, str] | None, found: ProgramOutcome, lines: list[str]
) -> ProgramOutcome:
    """Return the outcome by the exit status, if there is one, and by the lines.

    A status of 0 may be that of another program, the last of a pipe or a list: against a test summary that counts failures it
    proves nothing, and with an uncaught exception as its last word nothing is known.
    """
    if status is None:
        return found
    code, line = status
    if code == 0 and found.failed:
        counted = found.evidence == "tests" and any(map(_COUNT.search, found.lines))
        if counted:
            return found
        if found.evidence == "tests" or is_last_word(lines):
            return UNKNOWN
    if code == 0:
        return ProgramOutcome(ending="succeeded", evidence="status")
    shown = found.lines if found.failed else tuple(filter(is_error_line, lines[-TAIL_LINES:]))
    return ProgramOutcome(
        ending="failed", lines=(line, *shown), evidence="status", has_run=found.has_run
    )


def is_error_line(line: str) -> bool:
    """Return True if a line reports an error, in the words of loggers, compilers and test runners."""
    return has_any(line, ERROR_PARTS) and _ERROR.search(line) is not None


def has_any(line: str, parts: Sequence[str]) -> bool:
    """Return True if one of these stands in a line, in any case: what rules most lines out before an expression is tried."""
    return any(map(line.lower().__contains__, parts))


def most_informative(lines: Iterable[str]) -> str:
    """Return the line that says most of a failure: the last one with an error's name, else the last one."""
    last = named = ""
    for line in lines:
        last = line
        named = line if _NAMED.search(line) else named
    return named or last


# Lines

_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_EMPTY = re.compile(  # tags, fences, rulers, prompts: they frame an output
    r"\W*|</?[A-Za-z_]{1,40}>|`{3}\w{0,20}|\(no output\)|[\w.-]{1,40}@[\w.-]{1,80}:[^\n]{0,200}[$#] ?"
)
_BEHIND = re.compile(r"(?<=\S)\[Python Interpreter: [^\]\n]{0,200}\]\s*\Z")  # OpenHands' prompt


def lines_in(output: str) -> list[str]:
    """Return the lines with words of an output's ends."""
    ends = ends_of(output, *ENDS_CHARS)
    lines = (_BEHIND.sub("", line.rstrip()[:LINE_CHARS]) for line in ends.splitlines())
    return [line for line in lines if not _EMPTY.fullmatch(line)]


# Exit status

_NUMBER = r"(?P<{}>-?\d{{1,10}}|0[xX][\da-fA-F]{{1,8}})"
_STATED = re.compile(  # "exit code: 1", "exited with status 2", "returned non-zero exit status 1"
    r"(?<![\w.$-])(?:(?:exit|return)[ _-]?(?:code|status)|ExitCode|returncode"
    r"|(?:exit(?:ed|s)?|return(?:ed|s)?|failed|finished|completed|terminated|stopped|ended|died|quit)(?: abnormally)? with"
    r"(?: an?)?(?: (?:non-?zero|error|exit|return))?(?: (?:exit|return))? ?(?:code|status|value))"
    rf"(?: was| is| of)?[ \t]{{0,4}}[:=]?[ \t]{{0,4}}[\"'`(<>\[*]{{0,3}}{_NUMBER.format('code')}"
    r"(?![\w%]|\.\d)(?=[^\w]*\Z|[\])}<>.,;:!*'\"`]|[ \t]\(|[ \t](?:in|after|at|from)\b)",
    re.IGNORECASE,
)
_ALONE = re.compile(  # without a noun: nothing but closing signs behind it
    r"(?<![\w.$-])(?:(?:exit(?:ed|s)?|rc|errorlevel)[ \t]{0,2}[:=][ \t]{0,2}|exited (?:with )?\(?|exit (?=\d+[\])]))"
    rf"{_NUMBER.format('code')}[^\w;]*\Z",
    re.IGNORECASE,
)
_MAY_STATE = re.compile("exit|return|rc|with|errorlevel|sig", re.IGNORECASE)
_REVERSED = re.compile(  # collect2; a shell of a job
    r"\breturned (\d{1,5}) exit status\b|\A\[\d{1,4}\] {0,3}[+-]? +(?:\d{1,10} +)?[Ee]xit (\d{1,3})\b"
)
_SIGNALLED = re.compile(
    r"(?:(?:terminated|killed|stopped|died|exited|failed)(?: \w{1,12}){0,2} (?:by|with|on|due to)|received|caught)"
    r" (?:a )?(?:signal:?[ \t]?\(?(?:SIG[A-Z]{2,6}|\d{1,2})|SIG[A-Z]{2,6})\b"
    r"|\A\W{0,3}(?:exit )?signal: (?!\(?none\b)(?:\w{1,20})",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(  # a line that speaks about a status, or shows a line of something
    r"\b(?:if|when|unless|should|must|expect\w*|assert\w*|means?|returns?)\b|\A[^\s:]{1,200}:\d{1,7}[:-](?!\d)|\A\s*(?:#(?!#\[error\])|//|\*|\d{1,7}[:\t])",
    re.IGNORECASE,
)
_HARNESS = re.compile(  # a sentence in brackets, as harnesses put it below what they show
    r"\A\s*[\[(](?:the )?(?:command|process|program) .{0,200}[\])]\s*\Z", re.IGNORECASE
)


def status_in(lines: list[str], *, is_content: bool) -> tuple[int, str] | None:
    """Return the exit status that the frame of an output states, with its line; a failure if two statuses differ."""
    edges = lines[:HEAD_LINES] + lines[max(HEAD_LINES, len(lines) - TAIL_LINES) :]
    if is_content:  # the text may end so too; the frame is the first line, or a harness's own
        edges = [line for line in edges if _HARNESS.match(line) or line is lines[0]]
    found = [(code, line) for line in edges if (code := status_of(line)) is not None]
    return next((each for each in found if each[0]), found[0] if found else None)


def status_of(line: str) -> int | None:
    """Return the exit status that a line states, ``None`` if it states none; 128 stands for an unnumbered signal."""
    if _MAY_STATE.search(line) is None:
        return None
    match = _STATED.search(line) or _ALONE.search(line)
    if match is not None:
        is_about = _SUPPOSED.search(line, 0, match.start())
        is_hex = match["code"][:2] in ("0x", "0X")
        number = int(match["code"], 16 if is_hex else 10)
        is_other = (number > MOST_STATUS and not is_hex) or number in OF_HTTP
        is_field = line.endswith("<", 0, match.start())  # a tag of a frame has nothing else
        is_other &= "return" in match[0].lower() and not is_field
        return None if is_about or is_other else number
    if (match := _REVERSED.search(line)) is not None:
        return int(match[1] or match[2])
    if (match := _SIGNALLED.search(line)) is not None and not _SUPPOSED.search(line):
        return 128
    return None


# Fields of a result in JSON

_STATUSES = frozenset({"exitcode", "returncode", "exitstatus", "returnstatus", "rc"})
_SUCCESSES = frozenset({"success", "succeeded", "issuccess", "successful", "ok", "passed"})
_FAULTS = frozenset(
    {"error", "errors", "iserror", "haserror", "exception", "failed", "failure", "errormessage"}
)
_STATES: Mapping[str, Ending] = {
    **dict.fromkeys(("error", "failed", "failure", "fail", "crashed", "timeout"), "failed"),
    **dict.fromkeys(("success", "succeeded", "passed", "ok"), "succeeded"),
}
_OUTPUTS = frozenset({"stdout", "stderr", "output", "result", "message", "content"})
_NOTHING = frozenset(
    ("", "0", "-", "no", "none", "null", "nil", "n/a", "false", "ok", "success")
) | {"no error", "no errors"}
_STATE_FIELDS = frozenset({"status", "state", "outcome", "statuscode", "httpstatus"})
_FRAME_FIELDS = _STATUSES | _SUCCESSES | _FAULTS | _STATE_FIELDS
_MESSAGES = frozenset({"message", "code", "detail", "type"})  # of a fault that is an object
_HTTP_FAULT = 400  # the least status that tells of a fault
MOST_FIELDS = 12  # of a record that is content; one with more keys is data, whatever they say


def fields_of(output: str) -> Mapping[str, object] | None:
    """Return the fields of a result that is a JSON object, ``None`` otherwise."""
    bare = output.strip()
    if not (bare.startswith("{") and bare.endswith("}")):
        return None
    try:
        value: object = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def of_fields(fields: Mapping[str, object], *, is_content: bool) -> ProgramOutcome:
    """Return the outcome that the fields of a result state: a status first, then flags, then the output that it holds."""
    inner = [cast("Mapping[str, object]", v) for v in fields.values() if isinstance(v, dict)]
    rows = [fields, *(inner if len(fields) <= MOST_FIELDS else ())]
    plain = [{re.sub(r"[\W_]", "", key).lower(): v for key, v in row.items()} for row in rows]
    if is_content and not is_frame(plain):
        return UNKNOWN
    said = [v for row in plain for k, v in row.items() if k in _OUTPUTS and isinstance(v, str)]
    lines = [line for text in said for line in lines_in(text)]
    numbers = [whole(row.get(key)) for row in plain for key in _STATUSES]
    codes = [code for code in numbers if code is not None]
    found = UNKNOWN if is_content else of_lines(lines)
    if codes:
        code = next(filter(None, codes), 0)
        return weighed((code, f"exit status {code}"), found, lines)
    if len(fields) > MOST_FIELDS and is_content:
        return UNKNOWN
    endings = dict(flags_in({k: v for k, v in plain[0].items() if not is_content or says(v)}))
    if "failed" in endings:
        lines = [line for line in (endings["failed"], *found.lines) if line]
        return ProgramOutcome(ending="failed", lines=tuple(lines), evidence="fields")
    if "succeeded" in endings and not found.failed:
        return ProgramOutcome(ending="succeeded", evidence="fields")
    return found


def is_frame(rows: list[dict[str, object]]) -> bool:
    """Return True if a record has a status next to an output, or nothing else: data may have fields of these names too."""
    own, framed = rows[0].keys(), any(row.keys() & _FRAME_FIELDS for row in rows)
    return own <= _FRAME_FIELDS or (framed and not _OUTPUTS.isdisjoint(own))


def says(value: object) -> bool:
    """Return False for an object that is no message or code, such as texts by name."""
    return not isinstance(value, dict) or not _MESSAGES.isdisjoint(cast("dict[str, object]", value))


def flags_in(row: Mapping[str, object]) -> Iterator[tuple[Ending, str]]:
    """Yield what flags, faults and states of a result say, with the text of a fault."""
    for key, value in row.items():
        if key in _SUCCESSES and isinstance(value, bool):
            yield ("succeeded" if value else "failed"), "" if value else text_of(row)
        elif key in _FAULTS and is_fault(value):
            yield "failed", text_of({key: value})
        elif key in _FAULTS and value is True:
            yield "failed", text_of(row)
        elif key in ("status", "state", "outcome") and isinstance(value, str):
            if ending := _STATES.get(value.strip().lower()):
                yield ending, text_of(row) if ending == "failed" else ""
        elif key in ("statuscode", "httpstatus") and (whole(value) or 0) >= _HTTP_FAULT:
            yield "failed", text_of(row) or f"status {value}"


def is_fault(value: object) -> bool:
    """Return True for a text or object that is no word or number for nothing."""
    is_empty = isinstance(value, str) and value.strip().rstrip(".!").lower() in _NOTHING
    return bool(value) and not isinstance(value, (int, float)) and not is_empty


def text_of(row: Mapping[str, object]) -> str:
    """Return the text of a fault: its message, or the value of the first key that has one."""
    keys = (*sorted(_FAULTS), *sorted(_OUTPUTS))
    value: object = next((row[key] for key in keys if row.get(key)), "")
    if isinstance(value, dict):
        inner = cast("dict[str, object]", value)
        value = next((v for v in (inner.get("message"), *inner.values()) if isinstance(v, str)), "")
    if isinstance(value, list):
        value = next(iter(cast("list[object]", value)), "")
    lines = lines_in(value) if isinstance(value, str) else []
    return most_informative(filter(is_error_line, lines)) or (lines[0] if lines else "")


def whole(value: object) -> int | None:
    """Return a value as a whole number, ``None`` if it is none."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,10}", value.strip()):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# The last words of a program without a status

# Signals, as a shell or a C library names them (strsignal of POSIX).
_SIGNAL = re.compile(
    r"(?:\S{1,60}: (?:line )?\d{1,6}: +\d{1,10} |\[\d{1,4}\] {0,3}[+-]? +(?:\d{1,10} +)?|\S{1,60}: \d{1,10} )?"
    r"(?:Killed|Aborted|Terminated|Hangup|Segmentation fault|Bus error|Illegal instruction|Floating[ -]point exception"
    r"|Trace/(?:breakpoint|BPT) trap|Broken pipe|Alarm clock|Bad system call|CPU time limit exceeded|File size limit exceeded"
    r"|OOMKilled|[Cc]ore dumped|(?<=\d )(?:segmentation fault|bus error|killed|abort|terminated)"  # of a job of zsh
    r"|(?:Out of memory|MemoryError|oom-kill)\b.{0,200}|zsh: \w[\w ]{0,30})"
    r"(?: ?\(core dumped\)|: \d{1,2})?(?:  +\S.{0,200})?\.?"
)
_CRASH = re.compile(  # the beginning of what a runtime prints of an uncaught error
    r"Exception in thread \"|Unhandled [Ee]xception|[Uu]ncaught (?:\w{0,30}(?:Error|Exception)\b|exception)|panic: |fatal error: "
    r"|thread '[^'\n]{0,80}' .{0,30}panicked at |terminate called (?:after|without)|(?:PHP )?(?:Fatal|Parse) error: |Execution halted"
    r"|Error in .{1,120} : ?|\*\* \(\w[\w.]{0,60}\) |\*\*\* Exception: |=+\d+=+ ?ERROR: \w+Sanitizer|lua[\d.]{0,4}: \S+:\d+: "
    r"|FATAL ERROR: .{0,120}(?:heap|memory)|Traceback \(most recent call (?:last|first)\)|ERROR: LoadError|\S+:\d+:in [`'].{1,160}\((?:\w+(?:Error|Exception))\)"
)
_FRAME = re.compile(
    r"\s+(?:at |from |File \"|in |\.\.\. \d+ more|\d+: )|\s*goroutine \d|Caused by: |Node\.js v\d"
)
_EXCEPTION = re.compile(  # a name with the ending of an error, at the beginning of a line
    r"(?:[A-Za-z_]\w{0,60}(?:\.|::|\\|/)){0,12}(?:[A-Z]\w{0,60}(?:Interrupt|Exit|Fault)|(?:[A-Z]\w{0,60})?(?:Error|Exception))\b(?: \[\w+\])?(?::|\Z|\()"
)
_DIAGNOSTIC = re.compile(  # compilers, build tools, package managers, shells and programs on their own behalf
    r"(?:[^\s:]{1,200}:\d{1,7}(?::\d{1,5})?|[^\s(]{1,200}\(\d{1,7}(?:,\d{1,5})?\)|[\w./-]{1,80}): (?:fatal |internal |syntax )?(?:error|ERROR)\b.{0,2}[:\[\s]"
    r"|error(?:\[\w+\])?: |error TS\d+: |npm (?:ERR!|error)|ERR_PNPM|make(?:\[\d+\])?: \*\*\* |ninja: build stopped|CMake Error|E: \w"
    r"|fatal: |FAILED: |(?:collect2|ld|cc1|clang): .{0,80}error|\[ERROR\] |BUILD FAIL|Build FAILED|\d{1,6} errors? (?:generated|found)\b|ELIFECYCLE|\*\*\* Error code \d"
    r"|'[^'\n]{1,120}' is not recognized as |\s{1,8}\+ FullyQualifiedErrorId"
)
_REFUSED = re.compile(  # of a shell, or of a program about its own operand; the texts of errno come last
    r"(?:.{0,200}: )?(?:command not found|No such file or directory|Permission denied|Is a directory|Not a directory|File exists"
    r"|No space left on device|Operation not permitted|Connection (?:refused|timed out|reset by peer)|Read-only file system"
    r"|Device or resource busy|Directory not empty|Name or service not known|Exec format error|not found|syntax error .{0,120}"
    r"|cannot execute.{0,80}|unrecognized (?:option|arguments?).{0,120}|invalid option.{0,80}|Could not resolve host.{0,120})\.?"
    r"|(?:[\w./ -]{1,80}: )?\[Errno \d{1,4}\] .{1,200}"
    r"|zsh: (?:command not found|no such file or directory): .{1,120}|'[^'\n]{1,120}' is not recognized as .{0,120}"
    r"|.{1,120} : The term '.{1,120}' is not recognized .{0,200}|.{0,60}\btimed out(?: after [\d.]+ ?\w{0,12})?\.?"
    r"|.{1,120}: No module named .{1,120}|.{1,80}: can't open file .{1,200}|(?:.{1,80}: |(?:[\w-]{1,30} ){1,3})?(?:error|Error): .{1,300}"
    r"|lost connection|Connection closed by .{1,120}|(?:child )?process exited abnormally"
)
_STARTING = re.compile(  # what was to be run was not there
    r"(?:.{0,80}: )?(?:command )?not found(?:: .{0,120})?$|not recognized|can't open file|No module named|cannot execute"
)
_OPENS = re.compile(  # the first words of a tool's own message
    r"\W{0,4}(?:(?:\w{1,20} ){0,2}(?:error|exception|failure|fatal|failed)\s{0,2}(?:[:!]|\d{3}\b|\Z)|(?:failed to|cannot|can't|could not|couldn't"
    r"|unable to|usage:|invalid|unknown|no such|not found|file not found|no (?:replacement|match)|access denied|permission denied)\b)",
    re.IGNORECASE,
)
_ZERO = re.compile(  # "0 failed", "errors: 0, warnings: 3"
    r"\W{0,12}(?:\w{1,20} ){0,2}(?:errors?|exceptions?|failures?|failed|fail|FAIL) ?[:=] ?0(?=\s*\Z|[,;)|]|\.?\s*\Z|\s+(?:problems?|errors?|warnings?|issues?|found|\w{1,20} ?[:=]))"
    r"|\W{0,12}0 (?:errors?|exceptions?|failures?|failed)\b",
    re.IGNORECASE,
)
_RESOLVED = re.compile(
    r"\b(\d{1,6}) (?:(?:errors?|failures?|problems?|issues?) )?(?:were |was )?(?:fixed|ignored|resolved|corrected)\b",
    re.IGNORECASE,
)
_FOUND = re.compile(r"\b(\d{1,6}) (?:errors?|failures?|problems?|issues?)\b", re.IGNORECASE)
_SAYS = re.compile(
    r"(?:no such file or directory|command not found|permission denied|does not exist|did not appear verbatim|not found)\b.{0,80}",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"[^\s:]{1,200}[:-]\d{1,7}[:-](?! (?:\w{1,10} )?(?:error|warning|note)|\d)|\s*\d{1,7}[:\t|]"
)
_MANY = 3  # lines of a listing


NONE_PARTS = ("err", "exception", "fail", "fixed", "ignored", "resolved", "corrected")


def is_of_none(line: str) -> bool:
    """Return True if a line says that there were no failures, or that all were resolved."""
    if not has_any(line, NONE_PARTS):
        return False
    return _ZERO.match(line) is not None or is_resolved(line)


def is_resolved(line: str) -> bool:
    """Return True if as many errors were fixed or ignored as a line counts."""
    resolved = sum(int(count) for count in _RESOLVED.findall(line))
    return resolved > 0 and sum(int(n) for n in _FOUND.findall(_RESOLVED.sub("", line))) <= resolved


def of_lines(lines: list[str]) -> ProgramOutcome:
    """Return the outcome that the lines of a program's output show: a test summary, else its last word."""
    tests = of_tests(lines)
    if tests.failed or not tests.has_run:
        return tests
    if tests.succeeded:
        last = of_last_word(lines)
        errs = any(is_error_line(line) and not is_of_tests(line) for line in lines[-LAST_LINES:])
        return last if last.failed else UNKNOWN if errs else tests
    listed = sum(_LISTED.match(line) is not None for line in lines)
    is_listing = listed >= _MANY and 2 * listed > len(lines)  # as grep -n and cat -n print them
    return UNKNOWN if is_listing else of_last_word(lines)


def is_of_tests(line: str) -> bool:
    """Return True if a line counts tests, or says that one passed."""
    return any(form.search(line) for form in (_COUNT, _SHARE, _RESOLVED, _PASSED, _PASSED_ONE))


def of_last_word(lines: list[str]) -> ProgramOutcome:
    """Return a failure if a program ended with an error: a signal, an uncaught exception, a diagnostic, a refusal."""
    lines = ["" if is_of_none(line) else line for line in lines]
    ends = lines[-TAIL_LINES:]
    shown = [line for line in ends if _SIGNAL.fullmatch(line)]
    opens = [at for at, line in enumerate(lines) if _CRASH.match(line) or _EXCEPTION.match(line)]
    if opens and ends_in_trace(lines, opens[-1]):
        trace = next((at for at in opens[::-1] if _CRASH.match(lines[at])), opens[-1])
        shown = [lines[trace], *filter(_EXCEPTION.match, lines[trace + 1 :]), *shown]
    shown += [line for line in diagnostics_in(lines) if line not in shown]
    shown += [line for line in filter(_REFUSED.fullmatch, lines[-1:]) if line not in shown]
    if not shown:
        return UNKNOWN
    started = _STARTING.search(shown[-1]) is None
    return ProgramOutcome(ending="failed", lines=tuple(shown), evidence="lines", has_run=started)


def is_last_word(lines: list[str]) -> bool:
    """Return True if an output ends with an uncaught exception or a signal."""
    return any(_SIGNAL.fullmatch(line) or _EXCEPTION.match(line) for line in lines[-TAIL_LINES:])


def ends_in_trace(lines: list[str], start: int) -> bool:
    """Return True if what follows the beginning of a trace is the trace and the exception's message, up to the end."""
    behind = 0
    for line in lines[start + 1 :]:
        is_inside = line[:1].isspace() or _FRAME.match(line) or _CRASH.match(line)
        behind = 0 if is_inside else behind + 1
    return behind <= (AFTER_TRACE if _EXCEPTION.match(lines[start]) else AFTER_CRASH)


def diagnostics_in(lines: list[str]) -> list[str]:
    """Return the diagnostics of a compiler or build tool; those of other programs count as their last word only."""
    found = [(at, line) for at, line in enumerate(lines) if _DIAGNOSTIC.match(line)]
    is_located = any(re.match(r"[^\s:(]{1,200}[:(]\d", line) for _, line in found)
    at_end = [line for at, line in found if at >= len(lines) - LAST_LINES]
    return [line for _, line in found] if is_located or at_end else []


def of_message(lines: list[str]) -> ProgramOutcome:
    """Return a failure if a short output is nothing but the message of one."""
    lines = ["" if is_of_none(line) else line for line in lines]
    first = lines[0] if lines else ""
    shown = [line for line in lines[:1] if _OPENS.match(line) or _DIAGNOSTIC.match(line)]
    shown += [line for line in lines[:2] if _SAYS.search(line) or _EXCEPTION.match(line)]
    shown += [line for line in lines[-1:] if _REFUSED.fullmatch(line) or _SIGNAL.fullmatch(line)]
    if not shown or _LISTED.match(first):
        return UNKNOWN
    return ProgramOutcome(ending="failed", lines=tuple(dict.fromkeys(shown)), evidence="lines")


# Test summaries: counts, else the words that runners begin a line with

_BAD = "fails|fail|failed|failing|failures|failure|errors|error|timed out|interrupted|did not run|unreachable|crashed|crashes"
_GOOD = "passes|passed|passing|pass|successes|success|succeeded"
_OTHER = "expected failures|unexpected successes|tests run|tests|test|examples|specs|scenarios|runs|total|skipped|skip|pending|xfailed|xpassed|warnings|assertions"
_COUNT = re.compile(
    rf"(?<![\w.=])(\d+) (?:(?:unit )?tests? )?({_BAD}|{_GOOD}|{_OTHER})(?![\w%])"
    rf"|\b({_OTHER}|{_BAD}|{_GOOD})(?: *[:=] *| (?=\d+\s*$))(\d+)\b(?![%:/-]|\.\d)"
    rf"(?! (?:{_BAD}|{_GOOD}|{_OTHER})\b(?! *[:=]))",  # "Tests: 1 failed" counts failures
    re.IGNORECASE,
)
_SHARE = re.compile(  # "3/5 tests passed", "Passed: 3 of 5"
    r"(?<![\w./-])(?P<n>\d{1,9})(?: ?/ ?| (?:out )?of )(?P<all>\d{1,9})(?: (?:unit )?(?:tests?|checks?|cases?|specs?|examples?|scenarios?))?"
    rf"(?: (?:have|were|are))? (?:{_GOOD})\b|\b(?:{_GOOD})(?: *[:=] *| )(?P<n2>\d{{1,9}})(?: ?/ ?| (?:out )?of )(?P<all2>\d{{1,9}})\b",
    re.IGNORECASE,
)
TEST_PARTS = (
    "fail", "err", "timed", "unreach", "crash", "pass", "succe", "test", "example", "spec", "scenario",
    "run", "total", "skip", "pending", "warn", "assert", "ok", "✕", "✗", "✘", "❌",
)  # fmt: skip
_DIGIT = re.compile(r"\d")
_LEFT_OUT = re.compile(r"skip|pending|ignored|todo|disabled", re.IGNORECASE)
_COUNT_WORDS = re.compile(  # words allowed in a line with a single count
    r"\b(?:tests?|suites?|files?|cases?|results?|run|ran|finished|completed|in|with|out|of|ok|passed|failed|m?s|seconds?)\b|(?<=\d)m?s\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\W{0,12}(?:FAILED\b|FAIL(?:\s|: (?!0)|$)|FAILURES!|ERRORS!|ERROR:? \w+(?: \(|\S*\.py)|BUILD FAIL|not ok \d|error: could not compile|Finished: FAILURE)"
    r"|\s*[✕✗✘❌] |.*(?:\.\.\. (?:FAIL|FAILED|ERROR)\s*$|::\S+ (?:FAILED|ERROR)\b)"
)
_PASSED = re.compile(
    r"\W{0,12}(?:OK(?:,.*| \(.*\))?\s*$|ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*no tests)|PASS(?:ED)?\s*$|PASS +\S+\.\w|BUILD SUCCESS"
    r"|(?i:all) (?:\w+ ){0,3}(?i:tests|checks|cases) (?i:pass|succeed|successful))"
)
_PASSED_ONE = re.compile(r"\bPASSED\b|\.\.\. ok\s*\Z")
_NOT_RUN = re.compile(
    r"no tests? (?:to run|ran|were)|\b0 (?:tests|examples)\b(?! fail)", re.IGNORECASE
)


def of_tests(lines: list[str]) -> ProgramOutcome:
    """Return the outcome that a test summary states; a single failure makes it ``failed``."""
    reporting = [line for line in lines if has_any(line, TEST_PARTS)]
    numbered = [line for line in reporting if _DIGIT.search(line)]
    bad, good = list[int](), list[int]()
    for line in (_SHARE.sub("", line) for line in numbered if not is_resolved(line)):
        found = list(_COUNT.finditer(line))
        if len(found) == 1 and is_sentence(line):
            continue  # a number in a sentence
        for before, word, name, behind in (item.groups() for item in found):
            kind, count = (word or name).lower(), int(before or behind)
            bad += [count] if kind in _BAD.split("|") else []
            good += [count] if kind in _GOOD.split("|") else []
    shares = shares_in(numbered)
    bad += [max(0, total - n) for total, n in shares.items()]
    good += shares.values()
    marked = [line for line in reporting if _FAILED.match(line) and not _ZERO.match(line)]
    if sum(bad) or marked:
        counts = marked or [
            line for line in reporting if _COUNT.search(line) or _SHARE.search(line)
        ]
        named = [line for line in lines if is_error_line(line) and line not in counts]
        return ProgramOutcome(ending="failed", lines=(*counts[-3:], *named[-3:]), evidence="tests")
    if sum(good):
        return ProgramOutcome(ending="succeeded", evidence="tests")
    if good or any(_NOT_RUN.search(line) for line in reporting):
        return ProgramOutcome(has_run=False)
    if bad or any(_PASSED.match(line) for line in reporting):
        return ProgramOutcome(ending="succeeded", evidence="tests")
    return UNKNOWN


def is_sentence(line: str) -> bool:
    """Return True if a line has more words than a count of tests."""
    return re.search(r"[^\W\d_]", _COUNT_WORDS.sub("", _COUNT.sub("", line))) is not None


def shares_in(lines: list[str]) -> dict[int, int]:
    """Return how many of each total passed, as last said: the lines before report progress."""
    shares: dict[int, int] = {}
    for line in lines:
        share = _SHARE.search(line)
        if share is not None and not is_sentence(_SHARE.sub("", line)):
            n, total = (int(share[name] or share[f"{name}2"]) for name in ("n", "all"))
            shares[total] = total if _LEFT_OUT.search(line) else n
    return shares
