"""What a page shows in another form than it is asked for: sums, places, figures, further pages, the best of several.
Core; may import what reads pages and instructions, from the folder that it is in."""
