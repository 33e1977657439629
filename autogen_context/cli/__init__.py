"""The ``autogen-context`` command: one file per subcommand."""
