"""Search over the pages, and what indexes them."""
