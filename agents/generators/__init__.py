"""The models that stages ask: an endpoint or weights here.

May import `encoders`, `llm` and `words`.
"""
