"""What several stages say to each other: prompts and their parts, pages and past steps as text, replies and values.

May import `llm`, `prompts`, `annotations/dom`, `annotations/sandbox` and `annotations/text`.
"""
