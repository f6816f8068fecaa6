"""What the API does everywhere: pages of lists, filters, refusals in its schema. `webnav_site/api.py` names its views.

May import all of `annotations`.
"""
