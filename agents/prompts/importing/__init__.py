"""Words of published agents, read from clones of their authors' repositories: nothing of them lies in ours.

Python files are read as syntax trees and never run. May import `prompts`.
"""
