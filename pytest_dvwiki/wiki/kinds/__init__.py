"""What a page of each kind says: a bug, a pattern, a coverage bin, a clarification."""
