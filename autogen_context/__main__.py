"""``python -m autogen_context`` is the command ``autogen-context``."""

from autogen_context.cli.main import run

if __name__ == "__main__":
    run()
