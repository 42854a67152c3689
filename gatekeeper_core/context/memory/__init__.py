"""What a thread leaves behind: summary, task, constraints, and long-term memories of a user."""
