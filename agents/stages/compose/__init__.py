"""Stage `compose`: the prompt, out of blocks.

May import `llm`, `prompts`, `recipes`, `stages`, `stages/plan`, `stages/simplify`, `weblinx`, `annotations/dom` and
`annotations/sandbox`.
"""
