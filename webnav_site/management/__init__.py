"""Django's command line in this app: `commands`."""
