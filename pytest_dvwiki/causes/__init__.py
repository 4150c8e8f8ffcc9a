"""One cause: its identity, its history, and the statements about it.

`cause` holds the type, `statements` decides each fact once, and `words` writes it. The terminal, the bug page, prompts
and other outputs choose statements and format them; none of them decides a fact of its own.
"""
