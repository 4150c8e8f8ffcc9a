"""Reading of what agents and their tools report, and archiving of it."""
