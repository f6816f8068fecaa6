"""What is stored for the stage `recall` to search: snippets, exemplars, workflows, rationales, and the jobs that build
it.

May import `encoders`, `llm`, `models`, `prompts`, `recipes`, `runs`, `stages`, `stages/compose`, `stages/imagine`,
`stages/plan`, `stages/recall`, `stages/simplify`, `world_model` and all of `annotations`.
"""
