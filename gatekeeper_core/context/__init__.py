"""Everything around the selection: the history of a thread, its records, and the prompt.

Each room imports only rooms below it::

    prompt
    memory
    history
    tool_results
"""
