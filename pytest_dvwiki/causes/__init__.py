"""One cause: its identity, its history, and the statements about it.

`cause` defines the type, `statements` decides the facts, and `words` formats them. The terminal, the bug page, prompts
and other outputs only choose statements and their markup.
"""
