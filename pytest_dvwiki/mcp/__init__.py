"""The wiki for agents and other programs over the Model Context Protocol: `dvwiki mcp`."""
