"""One module for each format of tool results, and the registry that lists them."""
