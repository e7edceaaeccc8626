"""The tools of the API for agents, over the Model Context Protocol: `accounting mcp`."""
