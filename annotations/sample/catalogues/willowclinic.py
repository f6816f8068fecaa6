"""Doctors, medicines and test results of Willow Clinic."""

from dataclasses import dataclass

SPECIALTIES = ("Any speciality", "General practice", "Children", "Skin", "Heart", "Physiotherapy", "Women's health")
LANGUAGES = ("Any language", "English", "Polish", "Spanish", "Punjabi", "French")
SITES = ("Both sites", "Willow Street", "Canal House")


@dataclass(frozen=True)
class Doctor:
    """One member of the team; `free` holds slots as "day hour"."""

    name: str
    specialty: str
    site: str
    languages: tuple[str, ...]
    video: bool
    text: str
    free: tuple[str, ...]

    @property
    def key(self) -> str:
        return self.name.split()[-1].lower()


DAYS = ("Mon 1 June", "Tue 2 June", "Wed 3 June", "Thu 4 June", "Fri 5 June")
NEXT_DAYS = ("Mon 8 June", "Tue 9 June", "Wed 10 June", "Thu 11 June", "Fri 12 June")
HOURS = ("08:30", "09:10", "09:50", "10:30", "11:10", "13:30", "14:10", "14:50", "15:30", "16:10", "17:20", "18:00")
DOCTORS = (
    Doctor(
        "Dr Hanna Osei",
        "General practice",
        "Willow Street",
        ("English", "French"),
        True,
        "Family doctor since 2009. Likes clear plans and short words.",
        (
            "Tue 2 June 09:10",
            "Tue 2 June 14:50",
            "Wed 3 June 08:30",
            "Thu 4 June 16:10",
            "Thu 4 June 18:00",
            "Tue 9 June 08:30",
            "Wed 10 June 17:20",
        ),
    ),
    Doctor(
        "Dr Pavel Nowicki",
        "General practice",
        "Canal House",
        ("English", "Polish"),
        True,
        "General practitioner with a special interest in asthma.",
        (
            "Mon 1 June 15:30",
            "Wed 3 June 10:30",
            "Wed 3 June 17:20",
            "Fri 5 June 09:50",
            "Mon 8 June 13:30",
            "Fri 12 June 11:10",
        ),
    ),
    Doctor(
        "Dr Marisol Vega",
        "Children",
        "Willow Street",
        ("English", "Spanish"),
        True,
        "Paediatrician. There are stickers.",
        (
            "Tue 2 June 10:30",
            "Wed 3 June 14:10",
            "Thu 4 June 08:30",
            "Thu 4 June 15:30",
            "Tue 9 June 16:10",
            "Thu 11 June 09:10",
        ),
    ),
    Doctor(
        "Dr Gurpreet Bains",
        "Children",
        "Canal House",
        ("English", "Punjabi"),
        False,
        "Looks after babies, toddlers and worried parents.",
        ("Mon 1 June 11:10", "Fri 5 June 13:30", "Fri 5 June 15:30", "Wed 10 June 09:50"),
    ),
    Doctor(
        "Dr Lotte Brandt",
        "Skin",
        "Canal House",
        ("English", "French"),
        True,
        "Dermatologist: moles, eczema, acne and everything that itches.",
        ("Wed 3 June 09:10", "Thu 4 June 11:10", "Thu 4 June 17:20", "Mon 8 June 10:30", "Thu 11 June 14:50"),
    ),
    Doctor(
        "Dr Samuel Achterberg",
        "Heart",
        "Willow Street",
        ("English",),
        False,
        "Cardiologist with a clinic on Tuesdays and Fridays.",
        ("Tue 2 June 13:30", "Fri 5 June 10:30", "Tue 9 June 13:30", "Fri 12 June 14:10"),
    ),
    Doctor(
        "Aoife Brennan",
        "Physiotherapy",
        "Canal House",
        ("English",),
        True,
        "Physiotherapist for backs, knees and runners.",
        (
            "Mon 1 June 18:00",
            "Tue 2 June 08:30",
            "Wed 3 June 18:00",
            "Thu 4 June 18:00",
            "Tue 9 June 18:00",
            "Thu 11 June 08:30",
        ),
    ),
    Doctor(
        "Dr Renée Calloway",
        "Women's health",
        "Willow Street",
        ("English", "French"),
        True,
        "Gynaecologist. First visits take forty minutes.",
        ("Tue 2 June 11:10", "Wed 3 June 15:30", "Fri 5 June 08:30", "Mon 8 June 16:10", "Wed 10 June 10:30"),
    ),
)
# key, medicine, how to take it, left, last order
MEDICINES = (
    ("salbutamol", "Salbutamol inhaler 100 µg", "Two puffs when short of breath", "about 20 puffs", "4 March"),
    ("cetirizine", "Cetirizine 10 mg", "One tablet in the evening", "6 tablets", "2 May"),
    ("ramipril", "Ramipril 5 mg", "One tablet in the morning", "9 tablets", "5 May"),
    ("omeprazole", "Omeprazole 20 mg", "One capsule before breakfast", "21 capsules", "20 May"),
    ("vitamin-d", "Vitamin D 1000 IU", "One tablet a day", "40 tablets", "11 April"),
)
PHARMACIES = (
    "Choose a pharmacy",
    "Willow Street Pharmacy",
    "Bridge Chemist",
    "Old Town Pharmacy",
    "Night Pharmacy Canal",
)
# test, value, unit, usual range, day
RESULTS = (
    ("Haemoglobin", "138", "g/l", "120 – 160", "26 May"),
    ("Ferritin", "14", "µg/l", "15 – 150", "26 May"),
    ("Vitamin D", "61", "nmol/l", "50 – 125", "26 May"),
    ("Cholesterol", "5.6", "mmol/l", "below 5.0", "26 May"),
    ("HDL cholesterol", "1.4", "mmol/l", "above 1.2", "26 May"),
    ("HbA1c", "36", "mmol/mol", "below 42", "26 May"),
    ("Creatinine", "74", "µmol/l", "45 – 84", "26 May"),
    ("TSH", "2.1", "mU/l", "0.4 – 4.0", "26 May"),
    ("Blood pressure", "128 / 82", "mmHg", "below 135 / 85", "12 May"),
    ("Peak flow", "410", "l/min", "above 400", "12 May"),
    ("Ferritin", "18", "µg/l", "15 – 150", "14 January"),
    ("Cholesterol", "5.3", "mmol/l", "below 5.0", "14 January"),
)
TEAMS = ("Reception", "My doctor", "Nurses", "Physiotherapy", "Billing")
FOOTER = (
    ("Visit us", ("Willow Street", "Canal House", "Opening hours", "Parking", "Getting here by bus", "Accessibility")),
    ("Care", ("All specialities", "Vaccinations", "Blood tests", "Travel advice", "Minor operations", "Home visits")),
    ("Your account", ("Sign-in help", "Family access", "Test results", "Repeat medicines", "Letters", "Bills")),
    ("The clinic", ("Our team", "Join us", "Patients' council", "Feedback", "Privacy", "Research")),
)
ADVICE = (
    ("Hay fever season", "When to start your tablets and what to do about the nights."),
    ("Before a blood test", "What you may drink, and why we ask you to come early."),
    ("Children and fever", "Five signs that mean: call us now."),
    ("Backs at desks", "Aoife's seven-minute routine, with pictures."),
)
