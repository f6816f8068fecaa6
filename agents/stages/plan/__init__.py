"""Stage `plan`: the model's reply, and the action that it names."""
