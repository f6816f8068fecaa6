"""What a page shows in another form than it is asked for: sums, places, figures, further pages, the best of several,
and words that go with a command.

Core. May import `learned` and `annotations/dom`.
"""
