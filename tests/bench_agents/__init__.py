"""Measures how much an agent must read until it names the faulty line, with and without the wiki."""
