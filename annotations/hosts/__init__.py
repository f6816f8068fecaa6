"""Hosts and their workers: who this process is, who is alive, what each holds. Imports no other room."""
