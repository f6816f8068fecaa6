"""Stage `recall`: which earlier steps, exemplars and workflows an agent is reminded of."""
