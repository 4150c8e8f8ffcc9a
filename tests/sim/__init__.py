"""Tests with real simulators: the plugin's results for every kind of failure."""
