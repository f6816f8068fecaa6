"""What a planner is shown, how its reply is read, and the planners themselves. Core: no Django."""
