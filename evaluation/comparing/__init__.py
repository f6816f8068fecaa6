"""Two to four runs side by side: where they decide differently, which of them is right there, and what each was shown.

May import `metrics`, `models` and all of `annotations` and `agents`.
"""
