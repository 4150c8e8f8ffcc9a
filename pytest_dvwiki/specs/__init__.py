"""Specifications of checks, which a model writes from one sentence in five rounds, and the drafts made from them."""
