"""The tables of the admin lie with the rooms that work with their rows; here Django finds them."""

import agents.connections.admin
import agents.holding.admin
import agents.memory.admin
import agents.packs.admin
import agents.recipe_pages.admin
import agents.runs.admin
import agents.training.trained.admin  # noqa: F401
