"""The invented websites: each module renders a visitor's state as a page."""
