"""Compression of tool results, and the working memory that stores the full ones."""
