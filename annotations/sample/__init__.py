"""The sample dataset: conversations written for this project over six invented websites."""
