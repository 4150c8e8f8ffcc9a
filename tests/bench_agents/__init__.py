"""How far an agent has to look until it names the faulty line, with the wiki and without it."""
