"""Knowledge from the wiki for agents, as text for prompts."""
