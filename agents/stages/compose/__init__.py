"""Stage `compose`: puts the prompt together from what earlier stages left.

May import `llm`, `prompts`, `recipes`, `stages`, `stages/simplify`, `weblinx`, `words` and `annotations/dom`.
"""
