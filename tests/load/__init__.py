"""Load on a running app: started by hand, figures are reported."""
