"""WebLINX as published: turns, action strings, dense markup ranking, hierarchical truncation. No Django, no torch.

Letters with numbers ("A4.1") are labels of docs/sources.md. May import `prompts`, `annotations/datasets/weblinx`,
`annotations/dom` and `annotations/sandbox`.
"""
