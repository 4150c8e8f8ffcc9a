"""Reads and archives the reports of agents and their tools."""
