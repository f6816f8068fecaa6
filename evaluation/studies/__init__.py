"""Studies: planned as runs and shards, run by workers under leases and budgets, watched, cancelled, resumed."""
