"""Two classic AutoGen agents read 60 files in a small window: ``pip install "autogen-context[classic]"``.

Runs without a model: a server on loopback answers by a script and refuses what OpenAI refuses. For the real API leave
the server out and give the agent your own ``llm_config``.
"""

from autogen import ConversableAgent, register_function

from autogen_context.adapters.classic import ContextTransform
from autogen_context.testing import Call, LoopbackServer, Say, ScriptedModel

WINDOW = 4_000
FILES = [f"src/module_{number}.py" for number in range(60)]


def read_file(path: str) -> str:
    """Read a file of the project."""
    return f"# {path}\n" + "# The retry has no key, so the invoice is charged twice.\n" * 30


def main() -> None:
    """Let the coder ask for one file after the other."""
    calls = [Call("read_file", {"path": path}) for path in FILES]
    script = ScriptedModel([*calls, Say("All files are read. TERMINATE")])
    with LoopbackServer(script, window_tokens=WINDOW) as server:
        entry = {"model": "gpt-4o", "api_key": "none", "base_url": server.base_url, "price": [0, 0]}
        coder = ConversableAgent(
            "coder",
            llm_config={"config_list": [entry], "cache_seed": None},
            human_input_mode="NEVER",
        )
        user = ConversableAgent(
            "user",
            llm_config=False,
            human_input_mode="NEVER",
            is_termination_msg=lambda message: "TERMINATE" in (message["content"] or ""),
        )
        register_function(
            read_file, caller=coder, executor=user, description="Read a file of the project."
        )
        ContextTransform("gpt-4o", window_tokens=WINDOW).add_to_agent(coder)
        result = user.initiate_chat(coder, message="Read all files.", silent=True)

    largest = max(request.prompt_tokens for request in server.requests)
    sent = len(server.requests[-1].messages)
    print(f"{len(result.chat_history)} messages in the chat, {sent} in the last request")
    print(f"{len(server.rejected)} of {len(server.requests)} requests refused")
    print(f"the largest had {largest:,} of {WINDOW:,} tokens")


if __name__ == "__main__":
    main()
