"""Full-text search in the pages, and its indexes."""
