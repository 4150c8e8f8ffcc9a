"""What one simulation left behind, taken apart into its tests."""
