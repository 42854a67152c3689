"""Exact token counters: tiktoken and Hugging Face's tokenizers as a ``TokenCounter``.

Nothing is downloaded: a tokenizer comes as an object or from a file of this machine. Each counter is one module
with an extra of its own: ``gatekeeper_tokenizers.openai`` needs ``tiktoken``, ``gatekeeper_tokenizers.huggingface``
needs ``tokenizers``.
"""
