"""Stage `compose`: the prompt, out of blocks.

May import `llm`, `prompts`, `recipes`, `stages`, `stages/generators`, `stages/simplify`, `stages/words`, `weblinx`
and `annotations/dom`.
"""
