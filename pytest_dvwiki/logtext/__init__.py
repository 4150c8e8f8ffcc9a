"""The text of logs: how messages, tracebacks and frames are read from it, and how it is decoded and shortened."""
