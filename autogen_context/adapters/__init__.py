"""Adapters for the agent frameworks (hosts); the only modules that import one."""
