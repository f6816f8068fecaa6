"""Episodes that a person takes part in, a study each: showing how something is done, and talking with an agent.

May import `models`, `scores`, `studies` and all of `annotations` and `agents`.
"""
