"""From what a run left behind to failures with bounded evidence."""
