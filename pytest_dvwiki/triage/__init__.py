"""From a failure to its name, its first cause and its likely origin."""
