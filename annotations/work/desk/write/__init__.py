"""Write: the page on which a session is decomposed and rewritten, and the document behind it."""
