"""Proposals of models as jobs: what they are asked, how replies are read, and cuts that the embedded model weighs.

May import `encoders`, `llm`, `memory`, `models`, `prompts`, `words` and all of `annotations`.
"""
