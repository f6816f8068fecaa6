"""Two to four runs side by side: where they decide differently, who is right there, and what each was shown.

May import rows, scores and `agents.replay` (frames of pages); shows nothing of test gold to those who may not see it.
"""
