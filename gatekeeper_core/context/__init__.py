"""Everything around the selection: the history of a thread, what is kept of it, and the prompt.

Each room imports only rooms below it::

    prompt
    memory
    history
    tool_results
"""
