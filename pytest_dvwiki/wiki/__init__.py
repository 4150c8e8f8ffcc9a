"""The wiki's Markdown pages: reading, editing, derived content, and search."""
