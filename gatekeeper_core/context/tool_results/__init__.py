"""Compression of tool results, and the working memory that keeps the full ones."""
