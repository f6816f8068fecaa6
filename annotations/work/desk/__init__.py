"""The desk: what the five steps of annotation share, from campaigns and their queue to edits, comments and figures.

`moving_on` takes work from one step to the next. May import `models`, `work/desk/edits`, `work/desk/propose`,
`work/desk/tell`, `work/release` and `work/rewrite`.
"""
