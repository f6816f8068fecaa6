"""Stations, trains and fares of Brightrail."""

from dataclasses import dataclass

STATIONS = (
    "Arlen Bridge",
    "Dunmere",
    "Eastwick Quay",
    "Farrowgate",
    "Hollin Vale",
    "Kingsford",
    "Lindale",
    "Marlow Heath",
    "Overton Cross",
    "Penbridge",
    "Port Caldon",
    "Ravensby",
    "St Orrin",
    "Westmere",
)
FARES = ("Saver", "Flex", "First")
CONDITIONS = {
    "Saver": "This train only. Change it up to the day before for £5; no refund.",
    "Flex": "Any train on the day. Free changes, refund less £10 until departure.",
    "First": "Wide seat, quiet coach, tea and a hot breakfast before 10:30. Free changes and refunds.",
}
RAILCARDS = ("No railcard", "Young Person 16–25", "Two Together", "Family & Friends", "Senior")
OFFERS = (
    ("Two for the coast", "Port Caldon and back from £19 for two adults", "until 30 June"),
    ("Market Fridays", "A third off trains to Farrowgate after 9:30", "every Friday"),
    ("Family Sundays", "Up to four children travel for £1 each", "all summer"),
    ("Bring the bike", "Free cycle spaces on every Hollin Vale train", "book ahead"),
    ("Late supper saver", "Trains after 19:00 from £8.50", "Monday to Thursday"),
    ("Five-day flexi", "Five day passes to use in 28 days", "from £62"),
)
POPULAR = (
    ("Arlen Bridge", "Westmere", "1 h 21", "£16.50"),
    ("Kingsford", "Port Caldon", "1 h 54", "£21.00"),
    ("Westmere", "Lindale", "48 min", "£9.50"),
    ("Dunmere", "Kingsford", "1 h 07", "£14.00"),
    ("Ravensby", "St Orrin", "2 h 12", "£27.50"),
    ("Penbridge", "Arlen Bridge", "36 min", "£7.00"),
    ("Hollin Vale", "Farrowgate", "58 min", "£11.50"),
    ("Marlow Heath", "Overton Cross", "1 h 33", "£18.00"),
)
NOTICES = (
    ("Ravensby – St Orrin", "Buses replace trains on Sunday 14 June while a bridge is repaired.", "Planned work"),
    ("Lindale", "Lifts to platforms 3 and 4 are out of use until Wednesday.", "Station"),
    ("All routes", "Quiet coach moves to coach E from 1 June.", "Good to know"),
)
# departs, minutes more than the fastest train, changes, platform, price less or more than the route's fare
TIMETABLE = (
    ("06:12", 9, 0, "2", -3.0),
    ("07:05", 0, 0, "4", 9.5),
    ("07:48", 34, 1, "1", 2.0),
    ("08:31", 4, 0, "4", 12.0),
    ("09:15", 0, 0, "4", 4.5),
    ("09:52", 28, 1, "2", -4.5),
    ("10:40", 6, 0, "3", 0.0),
    ("12:22", 41, 1, "1", -6.0),
    ("13:45", 3, 0, "4", 1.5),
    ("15:10", 0, 0, "3", 3.0),
    ("16:38", 22, 1, "2", -1.5),
    ("17:26", 2, 0, "4", 13.5),
    ("19:04", 7, 0, "3", -5.0),
    ("20:42", 11, 0, "2", -7.5),
)
# time, to, platform, expected, via
BOARD = (
    ("14:02", "Westmere", "4", "On time", "Penbridge, Hollin Vale"),
    ("14:09", "Port Caldon", "6", "14:21", "Dunmere, Eastwick Quay"),
    ("14:15", "Lindale", "1", "On time", "Marlow Heath"),
    ("14:18", "Ravensby", "3", "Cancelled", "Overton Cross, St Orrin"),
    ("14:26", "Arlen Bridge", "4", "On time", "Farrowgate, Penbridge"),
    ("14:33", "Dunmere", "6", "On time", "Lindale"),
    ("14:40", "Port Caldon", "5", "14:44", "Eastwick Quay"),
    ("14:47", "Hollin Vale", "2", "On time", "Penbridge"),
    ("14:55", "Westmere", "4", "15:13", "Penbridge, Farrowgate, Hollin Vale"),
    ("15:02", "St Orrin", "3", "On time", "Overton Cross"),
    ("15:09", "Port Caldon", "6", "On time", "Dunmere, Eastwick Quay"),
    ("15:16", "Lindale", "1", "On time", "Marlow Heath, Dunmere"),
)


@dataclass(frozen=True)
class Train:
    """One service between two stations; prices in pounds, one adult, Saver."""

    departs: str
    minutes: int
    changes: int
    platform: str
    price: float
    calls: tuple[str, ...]

    @property
    def has_cycle_space(self) -> bool:
        return self.platform in {"2", "3"}

    @property
    def is_step_free(self) -> bool:
        return self.platform != "1"

    @property
    def key(self) -> str:
        return self.departs.replace(":", "")

    @property
    def arrives(self) -> str:
        return _later(self.departs, self.minutes)

    def call_times(self) -> list[tuple[str, str]]:
        """Station and time of every stop, the ends included."""
        part = self.minutes // max(len(self.calls) - 1, 1)
        middle = [(name, _later(self.departs, part * index)) for index, name in enumerate(self.calls)]
        return [*middle[:-1], (self.calls[-1], self.arrives)]

    def fare(self, name: str, adults: int = 1, railcard: str = "") -> float:
        """Price of a fare for a party; a railcard takes a third off."""
        single = self.price * {"Saver": 1.0, "Flex": 1.5, "First": 2.2}[name]
        off = 2 / 3 if railcard not in {"", RAILCARDS[0]} else 1.0
        return round(single * off * 2) / 2 * adults


def _later(time: str, minutes: int) -> str:
    total = int(time[:2]) * 60 + int(time[3:]) + minutes
    return f"{total // 60 % 24:02}:{total % 60:02}"


def trains(origin: str, destination: str) -> list[Train]:
    """The day's services; length and price follow from the names, so every pair of stations has them."""
    seed = sum(map(ord, origin + destination))
    between = [name for name in STATIONS if name not in (origin, destination)]
    found = []
    for index, (departs, extra, changes, platform, price) in enumerate(TIMETABLE):
        stops = [between[(seed + index * 5 + offset * 3) % len(between)] for offset in range(1 + index % 3)]
        calls = (origin, *dict.fromkeys(stops), destination)
        found.append(Train(departs, 62 + seed % 47 + extra, changes, platform, 14.5 + seed % 17 + price, calls))
    return found
