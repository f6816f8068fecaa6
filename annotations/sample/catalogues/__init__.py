"""What the invented websites offer: trains, rooms, goods, doctors, permits. Imports no other room."""
