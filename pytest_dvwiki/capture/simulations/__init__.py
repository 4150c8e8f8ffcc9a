"""The evidence of one simulation, divided among its tests."""
