"""How people come in: passwords, second factors, invitations, the organisation's accounts; and the page of an account.

May import `access`, `access/tokens`, `access/trail`, `access/tries`, `models` and `text`.
"""
