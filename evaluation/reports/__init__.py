"""Reports: scores as the papers print them, beside the published numbers."""
