"""One cause: its identity, its history, and the statements about it.

`cause` defines the type, `statements` decides what is stated about a cause, and `words` formats the statements. The
terminal, the bug page, prompts and other outputs only choose statements and their markup.
"""
