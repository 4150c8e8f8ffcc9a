"""The Markdown pages: round trip, derived content, and what they know."""
