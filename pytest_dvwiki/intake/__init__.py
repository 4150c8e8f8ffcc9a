"""Reading and archiving of what agents and their tools report."""
