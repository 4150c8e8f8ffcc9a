"""Makefiles: which Makefile ran a simulation, where make worked, and the call of make that reruns the simulation."""
