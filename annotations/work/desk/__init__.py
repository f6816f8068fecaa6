"""The desk: what the five steps of annotation share, from campaigns and their queue to edits, comments and figures.

`moving_on` takes work from one step to the next.
"""
