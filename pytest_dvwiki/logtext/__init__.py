"""Logs as text: decoding, shortening, and the parsing of messages, tracebacks and frames."""
