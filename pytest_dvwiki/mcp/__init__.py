"""The wiki for agents and other programs, as a server of the Model Context Protocol: `dvwiki mcp`."""
