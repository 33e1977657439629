"""Tasks that end in a state which can be checked, worked by programs that know only what a request shows.

``python benchmarks/task_table.py`` runs them; docs/tasks.md has what was found.
"""
