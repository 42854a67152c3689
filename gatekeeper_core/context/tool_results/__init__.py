"""Tool results made small, and the working memory that keeps the whole ones."""
