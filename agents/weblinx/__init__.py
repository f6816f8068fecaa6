"""WebLINX as published: turns, action strings, dense markup ranking, hierarchical truncation. No Django, no torch.

Section numbers ("A4.1") are those of the specification of WebLINX that the conformance cases come from. May import
`prompts`, `annotations/datasets`, `annotations/dom` and `annotations/sandbox`.
"""
