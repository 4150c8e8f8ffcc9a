"""Bare texts: logs that were not captured, and pasted text whose line feeds were lost, escaped or added."""
