"""The Markdown pages: reading, editing, derived content, and queries of what is known."""
