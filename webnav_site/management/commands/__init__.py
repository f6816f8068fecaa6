"""Short doors to starting and stopping the product, to backups and to keys of the site.

May import all apps; nobody imports a command.
"""
