"""Cities, trains and berths of Nordline."""

from dataclasses import dataclass

CITIES = (
    "Havnby",
    "Elvsund",
    "Granfoss",
    "Norrhamn",
    "Skarholm",
    "Tindal",
    "Bergvatn",
    "Lillemark",
    "Osterby",
    "Frostad",
    "Kvarnsund",
    "Vinterås",
)
DAYS = (
    "Today, Mon 1 June",
    "Tue 2 June",
    "Wed 3 June",
    "Thu 4 June",
    "Fri 5 June",
    "Sat 6 June",
    "Sun 7 June",
    "Mon 8 June",
    "Tue 9 June",
    "Wed 10 June",
    "Thu 11 June",
    "Fri 12 June",
    "Sat 13 June",
    "Sun 14 June",
    "Mon 15 June",
    "Fri 19 June",
    "Sat 20 June",
    "Sun 21 June",
)
NordlineTrain = tuple[
    str, str, str, str, int, bool, int
]  # number, leaves, arrives, time, stops, night train, seat price
TRAINS: tuple[NordlineTrain, ...] = (
    ("N 12", "06:40", "13:05", "6 h 25", 7, False, 48),
    ("N 14", "08:10", "13:58", "5 h 48", 3, False, 64),
    ("N 22", "10:40", "17:22", "6 h 42", 9, False, 44),
    ("N 26", "12:15", "18:01", "5 h 46", 3, False, 61),
    ("N 34", "14:40", "21:20", "6 h 40", 8, False, 46),
    ("N 38", "16:05", "21:55", "5 h 50", 4, False, 69),
    ("NX 70", "19:30", "06:15 +1", "10 h 45", 6, True, 39),
    ("NX 72", "20:45", "07:20 +1", "10 h 35", 4, True, 42),
    ("NX 76", "22:05", "08:50 +1", "10 h 45", 5, True, 36),
    ("NX 80", "23:25", "09:40 +1", "10 h 15", 2, True, 45),
)
STOPS = ("Lillemark", "Osterby", "Kvarnsund", "Frostad", "Granfoss", "Tindal", "Bergvatn", "Vinterås", "Skarholm")


@dataclass(frozen=True)
class Berth:
    """A way to travel; `more` is the price above a seat, in euros per person."""

    name: str
    more: int
    text: str
    good: tuple[str, ...]
    night_only: bool


BERTHS = (
    Berth("Seat", 0, "A reclining seat in an open coach.", ("Reading lamp", "Socket", "Blanket to hire"), False),
    Berth("Quiet seat", 12, "The last coach: no calls, soft light.", ("Reading lamp", "Socket", "Wool blanket"), False),
    Berth("Couchette", 29, "A bunk in a cabin for six.", ("Linen", "Water", "Ladder and light"), True),
    Berth("Ladies' couchette", 29, "A bunk in a cabin for six women.", ("Linen", "Water", "Lockable door"), True),
    Berth("Sleeper for two", 74, "Two made-up beds and a washbasin.", ("Breakfast", "Towels", "Wake-up call"), True),
    Berth("Sleeper for one", 118, "A cabin to yourself.", ("Breakfast", "Shower", "Late check-out"), True),
)
EXTRAS = (
    ("breakfast", "Breakfast in your cabin", 11),
    ("dinner", "Supper in the dining car", 24),
    ("cycle", "Space for a bicycle", 9),
    ("dog", "A dog travels with us", 15),
    ("skis", "Skis or a sledge", 6),
    ("lounge", "Morning lounge with shower", 18),
)
LINES = (
    ("1", "The Coast Line", "Havnby – Elvsund – Norrhamn", "hourly", "5 h 48"),
    ("2", "The Fell Line", "Elvsund – Granfoss – Tindal", "every two hours", "4 h 20"),
    ("3", "The Lake Line", "Lillemark – Bergvatn – Osterby", "hourly", "2 h 35"),
    ("4", "The Ice Line", "Norrhamn – Frostad – Vinterås", "twice a day", "8 h 10"),
    ("5", "The Island Line", "Skarholm – Kvarnsund", "every 30 minutes", "1 h 05"),
)
STORIES = (
    ("Asleep by the fjord", "What to pack for your first night in a couchette."),
    ("Soup at 140 km/h", "Our dining car cook on dill, patience and sharp bends."),
    ("The last stop", "Three days in Vinterås, where the rails end and the boats begin."),
    ("With a dog on board", "Water bowls, walking stops and the coach to ask for."),
)
