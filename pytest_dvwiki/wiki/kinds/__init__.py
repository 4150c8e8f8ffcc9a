"""Content of the pages of each kind: bug, pattern, coverage bin, clarification, topic."""
