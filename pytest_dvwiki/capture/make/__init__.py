"""Makefiles: which one ran a simulation, in which folders make worked, and the call of make that runs it again."""
