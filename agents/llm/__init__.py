"""Language models behind one small protocol: endpoints, a cache and a budget around them.

May import `encoders`, `models` and `annotations/monitor`.
"""
