"""Tasks of other harnesses as environments of ours, each from a virtual environment of its own.

Core; runs in the process of an environment (`worker.py`). What a harness needs is not installed here: a Python that has
it runs one script of this folder, which imports nothing of this project and is told over a socket what to do. May
import `environments`, `annotations/datasets` and `annotations/dom`.
"""
