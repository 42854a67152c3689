"""Exact token counters: tiktoken and Hugging Face's tokenizers as a ``TokenCounter``.

Nothing is downloaded. The module ``openai`` needs the extra ``tiktoken``, and ``huggingface`` the extra ``tokenizers``.
"""
