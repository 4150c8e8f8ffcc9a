"""What agents are given."""
