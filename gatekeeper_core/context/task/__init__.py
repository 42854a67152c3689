"""A thread's task: its goal, its steps, and what is said of it at the end of the prompt."""
