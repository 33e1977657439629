"""The schemas of tools that go with a request, as a host hands them over.

Promise: what is no list of them is refused before anything is counted; the usual list costs one look at the types in it.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from autogen_context.argument import listed, wrong_argument

SCHEMAS = "a list of schemas, such as [recall_tool_schema()]"

_PLAIN = frozenset({dict})


def schemas_in(tools: Sequence[Mapping[str, object]] | None) -> Sequence[Mapping[str, object]]:
    """The schemas; none where a host has ``None`` for them.

    Raises:
        ValueError: it is no list, or something in it is no mapping.
    """
    if not tools:
        return ()
    schemas = listed("tools", tools, give=SCHEMAS)
    if not _PLAIN.issuperset(map(type, schemas)):
        for at, schema in enumerate(schemas):
            if not isinstance(schema, Mapping):
                raise wrong_argument(
                    f"tools[{at}]", schema, "a schema as a dict, as the API takes it"
                )
    return cast("Sequence[Mapping[str, object]]", schemas)  # JSON has no other keys
