"""What judges of trajectories and scanners that ask a language model share: the model and its texts, the job, what it
will take, and the limit on money.

The module `definition` is core. May import `models` and all of `annotations` and `agents`.
"""
