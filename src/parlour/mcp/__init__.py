"""A seat for a language model: what it can do at a server, as tools of the Model Context Protocol."""

from parlour.mcp.tools import Answer, ToolPlayer

__all__ = ["Answer", "ToolPlayer"]
