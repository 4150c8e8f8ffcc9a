"""One cause: its identity, its history, and the statements about it.

`cause` holds the type, `statements` decides each fact once, and `words` puts the facts into words. The terminal, the
bug page, prompts and other outputs choose statements and format them; no output decides a fact itself.
"""
