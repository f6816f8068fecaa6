"""What is stored for the stage `recall` to search: snippets, exemplars, workflows, rationales, and the jobs that build
it.

May import `encoders`, `llm`, `memory/workflows`, `models`, `prompts`, `recipes`, `stages`, `stages/imagine`,
`stages/recall`, `stages/simplify`, `words`, `world_model` and all of `annotations`.
"""
