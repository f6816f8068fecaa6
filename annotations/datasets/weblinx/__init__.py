"""WebLINX in and out: recorded demonstrations, the files beside them, and the ready-made chat splits.

`folders` is the format; `turns` alone knows where things are in a recorded turn. May import `datasets`, `dom` and
`sandbox`.
"""
