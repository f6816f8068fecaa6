"""Where people come in: risky actions that wait for them, the policies that the guard goes by, and acting in the
agent's place.

May import `guard`, `models`, `runs` and all of `annotations`.
"""
