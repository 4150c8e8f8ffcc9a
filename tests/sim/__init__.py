"""Real simulators: what the whole of the plugin makes of every kind of failure."""
