"""What the words in a tool's name say, and under which names arguments come: data for ``pipeline.tools.kinds``.

Promise: lower-case words, each once.
"""

from collections.abc import Mapping
from typing import Literal

from autogen_context.messages.tools.action import ToolKind
from autogen_context.messages.tools.command_words import listed

# "shell": what it does stands in its command line.
NamedKind = ToolKind | Literal["shell"]

_WORDS: Mapping[NamedKind, str] = {
    "read": "read view open cat get fetch load show retrieve print display describe inspect head tail peek download "
    "browse look extract preview check",
    "write": "write edit create insert update delete remove replace patch modify append save add set put post send book "
    "cancel exchange return upload apply commit store remember reserve pay schedule reschedule invite move rename copy "
    "change assign refund enable disable toggle resume suspend activate deactivate grant revoke approve undo mkdir rm mv "
    "cp touch overwrite make refuel reset",
    "search": "search find list ls grep glob rg tree query lookup locate scan match filter explore",
    "run": "run execute exec eval evaluate python ipython jupyter repl code calculate compute build compile start "
    "launch invoke simulate interpreter process",
    "test": "test tests pytest unittest jest lint",
    "shell": "bash sh zsh shell terminal console cmd command commands powershell",
}
NAME_WORDS: Mapping[str, NamedKind] = {
    word: kind for kind, words in _WORDS.items() for word in words.split()
}

# What one word as the command of an editor says (``str_replace_editor`` and its like).
EDITOR_COMMANDS: Mapping[str, ToolKind] = {
    "view": "read",
    "read": "read",
    "open": "read",
    "create": "write",
    "write": "write",
    "str_replace": "write",
    "replace": "write",
    "insert": "write",
    "append": "write",
    "edit": "write",
    "delete": "write",
    "rename": "write",
    "undo_edit": "write",
    "list": "search",
    "search": "search",
    "find": "search",
    "grep": "search",
}

COMMAND_KEYS = listed("command cmd command_line commandline script commands shell_command")
PATH_KEYS = frozenset(
    listed(
        "path paths file files file_path filepath file_paths filename file_name target_file absolute_path relative_path "
        "abs_path full_path notebook_path source_file target_path old_path new_path"
    )
)
EDIT_KEYS = frozenset(listed("old_str old_string old_text insert_line new_str edits"))
CONTENT_KEYS = frozenset(
    listed("content contents file_text text new_content file_content body data")
)
PATTERN_KEYS = listed(
    "query pattern regex search_term search_query keyword keywords q term code_snippet symbol class_name function_name "
    "name glob glob_pattern file_pattern"
)
FIRST_LINE_KEYS = listed(
    "start_line line_start startline first_line start_line_one_indexed from_line start offset line"
)
LAST_LINE_KEYS = listed(
    "end_line line_end endline last_line end_line_one_indexed_inclusive to_line end"
)
LENGTH_KEYS = listed("limit num_lines line_count lines max_lines")
RANGE_KEYS = listed("view_range line_range range")
PART_KEYS = listed("span_ids symbols symbol section pages page cell cell_id query pattern jsonpath")
