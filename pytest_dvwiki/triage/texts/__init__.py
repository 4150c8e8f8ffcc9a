"""Bare texts: logs that nobody captured, and what people paste, with its line feeds lost, escaped or added."""
