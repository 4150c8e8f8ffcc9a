"""Logs and pasted text that were not captured, possibly with lost, escaped or added line feeds."""
