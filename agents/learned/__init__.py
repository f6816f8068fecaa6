"""The planner that learns from demonstrations: one small network on frozen MiniLM vectors chooses element, operation
and value. Core: no Django.

`examples` say what it learns from, `instruction` and `page` read the two sides of a step, `features` compares them,
`relations` and `family` tell what elements say together with those around and within them, `spans` offers values,
`network` scores, `train` fits and saves, `model` loads and predicts. May import `encoders`, `learned/shown`, `recipes`,
`words`, `annotations/dom`, `annotations/sandbox` and `annotations/text`.
"""
