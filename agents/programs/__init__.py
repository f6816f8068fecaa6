"""Programs that language models write: each runs once, in a process that has no files, no network and little time.

Core. Whatever a model may have read on a page can speak through its program, so it is held like a page's script: by the
kernel first (limits, and a filter of system calls where Linux has one), by what its names lead to second. Imports no
other room.
"""
