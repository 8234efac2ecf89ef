"""Checks a text against the records it cites: every id, and every number beside one."""
