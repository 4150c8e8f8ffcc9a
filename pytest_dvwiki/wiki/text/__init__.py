"""The text of a page: reading it, and editing it without changing a byte that people wrote."""
