"""Records of threads and users: summary, task, constraints, long-term memories."""
