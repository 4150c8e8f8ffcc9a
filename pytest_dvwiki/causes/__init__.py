"""One cause: what it is, what is on record of it, and what is said of it.

`cause` holds the type, `statements` decides each fact once, and `words` writes it. The terminal, the bug page, prompts
and other outputs choose statements and give them a form; none of them decides a fact of its own.
"""
