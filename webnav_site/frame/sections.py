"""The sections of the top bar: label, route, key after `g`, and the routes that belong to it (by their first word)."""

SECTIONS = (
    ("Datasets", "datasets", "d", {"datasets", "dataset", "conversation", "step", "import", "release", "releases"}),
    ("Annotate", "annotate-queue", "q", {"annotate"}),
    ("Runs", "runs", "r", {"runs", "run", "trajectory", "reviews", "review", "held", "guard"}),
    ("Studies", "studies", "s", {"studies", "study"}),
    ("Agents", "recipes", "a", {"recipes", "recipe", "prompt", "connections", "connection"}),
    ("Models", "models", "m", {"models", "model"}),
    ("Jobs", "jobs", "j", {"jobs", "job"}),
    ("People", "people", "p", {"people", "member"}),
)
# Of those, what only who administers a project has a use for.
MANAGED = {"people"}
# For superusers alone.
OPERATIONS = ("Operations", "operations", "o", {"operations"})
# What stands in the menu of the account where the window has no room for it beside where one is.
LESSER = {"models", "jobs", "people", "operations"}
