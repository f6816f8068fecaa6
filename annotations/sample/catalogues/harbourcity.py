"""Streets, services and places of Harbour City."""

# topic, what it holds
TOPICS = (
    (
        "Parking and travel",
        ("Resident parking permit", "Visitor parking", "Pay a parking fine", "Blue badge", "Bus passes"),
    ),
    (
        "Bins and recycling",
        ("Find your bin day", "Report a missed bin", "Bulky waste", "Garden waste", "Recycling centres"),
    ),
    ("Streets", ("Report a street problem", "Roadworks", "Street lights", "Trees", "Winter gritting")),
    ("Libraries and culture", ("Book a library room", "Join the library", "Museums", "Events", "City archive")),
    ("Council tax", ("Pay council tax", "Bands and rates", "Discounts", "Moving home", "Paperless bills")),
    ("Schools and families", ("School places", "School meals", "Childcare", "Holiday clubs", "Fostering")),
    ("Housing", ("Apply for housing", "Repairs", "Rent", "Homelessness", "Neighbour noise")),
    ("Births and marriages", ("Register a birth", "Book a ceremony", "Order a certificate", "Citizenship", "Burials")),
)
POSTCODES = {
    "HC1 4QT": (
        "1 Ropemaker Lane",
        "3 Ropemaker Lane",
        "12 Ropemaker Lane",
        "Flat 2, 14 Ropemaker Lane",
        "18 Ropemaker Lane",
    ),
    "HC3 7BD": (
        "5 Lighthouse Road",
        "9 Lighthouse Road",
        "21 Lighthouse Road",
        "27 Lighthouse Road",
        "33 Lighthouse Road",
    ),
    "HC5 2LN": (
        "2 Saltmarsh Close",
        "4 Saltmarsh Close",
        "6 Saltmarsh Close",
        "8 Saltmarsh Close",
        "10 Saltmarsh Close",
    ),
}
# day, bin, what goes in
ROUNDS = (
    ("Wed 27 May", "Black bin", "What cannot be recycled"),
    ("Wed 3 June", "Green bin", "Paper, card, tins"),
    ("Wed 3 June", "Food caddy", "Cooked and raw food"),
    ("Wed 10 June", "Black bin", "What cannot be recycled"),
    ("Wed 10 June", "Food caddy", "Cooked and raw food"),
    ("Thu 11 June", "Brown bin", "Grass, leaves, branches"),
    ("Wed 17 June", "Green bin", "Paper, card, tins"),
    ("Wed 17 June", "Food caddy", "Cooked and raw food"),
    ("Wed 24 June", "Black bin", "What cannot be recycled"),
    ("Wed 24 June", "Food caddy", "Cooked and raw food"),
    ("Thu 25 June", "Brown bin", "Grass, leaves, branches"),
)
BINS = ("Green bin", "Black bin", "Brown bin", "Food caddy", "Glass box")
ZONES = (
    ("A", "Old harbour", "£84"),
    ("B", "Station quarter", "£96"),
    ("C", "Lighthouse hill", "£62"),
    ("D", "Saltmarsh", "£48"),
    ("E", "University", "£72"),
    ("F", "East docks", "£55"),
)
PROBLEMS = (
    "Choose a problem",
    "Pothole",
    "Street light",
    "Blocked drain",
    "Fly-tipping",
    "Graffiti",
    "Fallen tree",
    "Broken pavement",
)
SIZES = ("I am not sure", "Smaller than a plate", "As large as a plate", "Larger than a car wheel")
# reported, problem, street, what happens
REPORTS = (
    ("1 June", "Pothole", "Lighthouse Road, by the school", "Inspection today"),
    ("31 May", "Street light", "Ropemaker Lane 7", "Repair on 4 June"),
    ("30 May", "Fly-tipping", "Saltmarsh Close, garages", "Removed"),
    ("29 May", "Blocked drain", "Quay Street 40", "Crew booked"),
    ("28 May", "Graffiti", "Underpass Station Street", "Removed"),
    ("27 May", "Broken pavement", "Market Square, fountain", "Repair on 9 June"),
    ("26 May", "Pothole", "Mill Bridge, west side", "Filled"),
    ("24 May", "Fallen tree", "Observatory Park", "Removed"),
)
# library, room, people, what is in it, price an hour
ROOMS = (
    ("Central Library", "Chart Room", 12, "Projector, whiteboard", "£8"),
    ("Central Library", "Study 1", 2, "Desk, socket", "free"),
    ("Central Library", "Study 2", 4, "Screen, socket", "free"),
    ("Dockside Library", "Tide Room", 20, "Projector, piano, kitchen", "£12"),
    ("Dockside Library", "Crow's Nest", 6, "Screen, sea view", "£4"),
    ("Hillside Library", "Lantern Room", 10, "Whiteboard, ramp", "£6"),
    ("Hillside Library", "Quiet Box", 1, "Desk, sound-proof", "free"),
)
HOURS = ("09:00", "10:00", "11:00", "12:00", "14:00", "15:00", "16:00", "17:00", "18:00")
NEWS = (
    ("Swimming pool reopens", "The roof is dry, the water is warm: doors open on 6 June.", "29 May"),
    ("Night buses on Fridays", "Lines 4 and 9 run until two in the morning, at first until October.", "27 May"),
    ("Have your say: Quay Street", "Three plans for trees, cycles and loading bays.", "22 May"),
    ("Library fines end", "From July nobody pays for bringing a book back late.", "20 May"),
)
EVENTS = (
    ("Sat 6 June", "Harbour market", "Old harbour, 9:00"),
    ("Sun 7 June", "Open boats", "East docks, 11:00"),
    ("Tue 9 June", "Council meeting", "Town hall, 18:30"),
    ("Fri 12 June", "Lantern walk", "Lighthouse hill, 21:30"),
    ("Sat 13 June", "Repair café", "Dockside Library, 10:00"),
    ("Sun 14 June", "Brass on the quay", "Quay Street, 15:00"),
)
