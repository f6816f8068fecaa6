"""Websites where actions really happen: a Chromium in a process of its own, told and asked over a socket.

Core: knows no Django, no recipe and no run. Playwright's synchronous calls forbid the ORM in their thread, so a worker
never opens a browser itself (`worker.py` does); a browser that hangs or dies costs the episode it was in. May import
`environments/harnesses`, `environments/open_web`, `environments/sample_sites`, `annotations/datasets` and
`annotations/sample`.
"""
