"""Turn a failure into its name, its first cause and its likely origin."""
