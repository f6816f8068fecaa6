"""What a training leaves: its files with their card, in the storage of all hosts; shown and deleted.

May import `cookbook`, `encoders`, `models`, `recipes`, `stages`, `training/fit` and all of `annotations`.
"""
