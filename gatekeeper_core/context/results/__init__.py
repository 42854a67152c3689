"""One module for each way to make a tool result small; ``context/tool_results.py`` chooses among them."""
