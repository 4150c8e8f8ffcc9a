"""Output for people."""
