"""The invented websites: each module renders a visitor's state as a page. Imports no other room."""
