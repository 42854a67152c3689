"""One module for each format of tool results: how it is told, read and shortened."""
