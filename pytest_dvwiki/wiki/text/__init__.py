"""The text of a page: read, and written without touching a byte of people's."""
