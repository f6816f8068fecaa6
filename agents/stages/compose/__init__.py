"""Stage `compose`: the prompt, out of blocks.

May import `llm`, `prompts`, `recipes`, `stages`, `generators`, `stages/simplify`, `words`, `weblinx`
and `annotations/dom`.
"""
