"""`python -m webnav_site.locks write` or `check`."""

import sys

from webnav_site import locks

if sys.argv[1:] == ["write"]:
    locks.write()
found = [*dict.fromkeys(locks.problems(locks.required(), locks.locked()))]
for problem in found:
    sys.stderr.write(f"webnav: {problem}\n")
if found:
    sys.exit("webnav: the lock does not fit requirements.txt: make lock")
