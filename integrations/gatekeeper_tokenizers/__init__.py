"""Exact token counters: tiktoken and Hugging Face's tokenizers as a ``TokenCounter``.

Nothing is downloaded: pass a tokenizer, or name a local one. Each module has its own extra:
``gatekeeper_tokenizers.openai`` needs ``tiktoken``, ``gatekeeper_tokenizers.huggingface`` needs ``tokenizers``.
"""
