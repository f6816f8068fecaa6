"""What is stored for the stage `recall` to search: snippets, exemplars, workflows, rationales,
and the jobs that build it."""
