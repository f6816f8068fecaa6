"""The setting `plan.longest_by`. It is read before any stage is, so this module imports nothing but the declaration."""

from agents.recipes.declaring import setting

LONGEST_BY = setting("letters", "what makes a text the longest", choices=("letters", "words"))
