"""Everything around the selection: a thread, its history, what is kept of it, and the prompt.

Each room imports only rooms below it::

    prompt
    history   summary   task   memory
    compaction
    tool_results
    thread
"""
