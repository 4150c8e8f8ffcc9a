"""How the tests make up their input."""

from __future__ import annotations

from hypothesis import settings

# The same code is given the same examples: a change lands or not by what it does. `make fuzz` looks for others.
settings.register_profile("same", derandomize=True)
settings.register_profile("other", derandomize=False)
settings.load_profile("same")
