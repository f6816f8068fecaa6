"""Goods, shops and orders of Fern & Fell."""

from dataclasses import dataclass

CATEGORIES = ("Jackets", "Boots", "Rucksacks", "Tents", "Sleeping", "Camp kitchen")
COLOURS = ("Moss", "Slate", "Rust", "Heather", "Sand")
TRAITS = ("Waterproof", "Recycled", "Repairable", "In stock now")


@dataclass(frozen=True)
class Article:
    """An article; price in pounds, weight in grams."""

    name: str
    category: str
    price: int
    rating: float
    reviews: int
    grams: int
    colours: tuple[str, ...]
    traits: tuple[str, ...]
    text: str

    @property
    def key(self) -> str:
        return self.name.lower().replace("'", "").replace(" ", "-")


_WET, _ALL = ("Waterproof", "In stock now"), ("Waterproof", "Recycled", "Repairable", "In stock now")
ITEMS = (
    Article(
        "Drizzle Shell",
        "Jackets",
        119,
        4.6,
        318,
        290,
        ("Moss", "Slate", "Rust"),
        _ALL,
        "A packable rain shell with taped seams and a hood that turns with you.",
    ),
    Article(
        "Cairn Parka",
        "Jackets",
        245,
        4.8,
        142,
        940,
        ("Slate", "Moss"),
        _WET,
        "The winter coat for standing about: long, warm, stormproof.",
    ),
    Article(
        "Becks Softshell",
        "Jackets",
        98,
        4.3,
        206,
        410,
        ("Heather", "Slate"),
        ("Recycled", "In stock now"),
        "Stretchy and quick to dry, for days that cannot decide.",
    ),
    Article(
        "Tarn Insulated Jacket",
        "Jackets",
        149,
        4.5,
        173,
        380,
        ("Rust", "Moss", "Sand"),
        ("Recycled", "Repairable", "In stock now"),
        "Recycled down under a tough face; stuffs into its own pocket.",
    ),
    Article(
        "Gale Anorak",
        "Jackets",
        89,
        4.1,
        97,
        350,
        ("Sand", "Moss"),
        ("Waterproof", "Recycled"),
        "A pull-over with one enormous pocket for map and sandwich.",
    ),
    Article(
        "Summit Shell Pro",
        "Jackets",
        289,
        4.9,
        88,
        330,
        ("Slate", "Rust"),
        _ALL,
        "Three layers, pit zips, helmet hood: our best shell.",
    ),
    Article(
        "Fellrunner Windproof",
        "Jackets",
        72,
        4.4,
        254,
        120,
        ("Heather", "Rust"),
        ("Recycled", "In stock now"),
        "Weighs less than an apple and stops the wind.",
    ),
    Article(
        "Skye Mid Boot",
        "Boots",
        135,
        4.7,
        401,
        1080,
        ("Slate", "Sand"),
        _WET,
        "Waterproof leather, a roomy toe and a sole that can be replaced.",
    ),
    Article(
        "Peat Trail Shoe",
        "Boots",
        95,
        4.4,
        287,
        620,
        ("Moss", "Heather"),
        ("Recycled", "In stock now"),
        "Grippy and light for fast paths.",
    ),
    Article(
        "Highland Boot",
        "Boots",
        189,
        4.8,
        164,
        1420,
        ("Sand", "Slate"),
        ("Waterproof", "Repairable", "In stock now"),
        "Full-grain leather for rough ground and heavy loads.",
    ),
    Article(
        "Burn Sandal", "Boots", 58, 4.0, 133, 480, ("Rust", "Slate"), ("Recycled",), "For river crossings and camp."
    ),
    Article(
        "Day Sack 18",
        "Rucksacks",
        65,
        4.5,
        512,
        560,
        ("Moss", "Rust", "Slate"),
        ("Recycled", "In stock now"),
        "Eighteen litres, two bottle pockets, one quiet zip.",
    ),
    Article(
        "Ridge Pack 45",
        "Rucksacks",
        155,
        4.7,
        226,
        1340,
        ("Moss", "Slate"),
        ("Repairable", "In stock now"),
        "A carrying frame that fits your back, for three days out.",
    ),
    Article(
        "Portage Pack 65",
        "Rucksacks",
        198,
        4.6,
        119,
        1890,
        ("Slate", "Rust"),
        ("Repairable", "Recycled", "In stock now"),
        "Sixty-five litres with a rain cover in the lid.",
    ),
    Article(
        "Bothy Roll-top", "Rucksacks", 82, 4.2, 141, 720, ("Sand", "Heather"), _WET, "A dry bag with shoulder straps."
    ),
    Article(
        "Wren One",
        "Tents",
        210,
        4.5,
        154,
        1150,
        ("Moss", "Sand"),
        _ALL,
        "A one-person tent that pitches in four minutes.",
    ),
    Article("Heron Two", "Tents", 325, 4.8, 309, 1980, ("Moss", "Rust"), _ALL, "Two doors, two porches, no arguments."),
    Article(
        "Kestrel Family Four",
        "Tents",
        540,
        4.4,
        92,
        7400,
        ("Moss", "Sand"),
        _WET,
        "Room to stand, bedrooms that darken.",
    ),
    Article(
        "Dipper Tarp",
        "Tents",
        88,
        4.6,
        78,
        540,
        ("Sand", "Slate"),
        ("Waterproof", "Recycled", "In stock now"),
        "Three by three metres of shade or shelter.",
    ),
    Article(
        "Ember Sleeping Bag",
        "Sleeping",
        165,
        4.6,
        211,
        980,
        ("Rust", "Slate"),
        ("Recycled", "In stock now"),
        "Down, comfortable to minus two.",
    ),
    Article(
        "Lark Summer Bag",
        "Sleeping",
        79,
        4.3,
        188,
        650,
        ("Heather", "Moss"),
        ("Recycled", "In stock now"),
        "Synthetic, for nights above eight degrees.",
    ),
    Article(
        "Cloud Mat",
        "Sleeping",
        92,
        4.7,
        342,
        430,
        ("Moss", "Rust"),
        ("Repairable", "In stock now"),
        "Nine centimetres thick, packs to a bottle.",
    ),
    Article(
        "Pebble Stove",
        "Camp kitchen",
        48,
        4.6,
        276,
        95,
        ("Slate",),
        ("Repairable", "In stock now"),
        "Boils half a litre in three minutes.",
    ),
    Article(
        "Fell Kettle",
        "Camp kitchen",
        34,
        4.5,
        133,
        260,
        ("Slate", "Rust"),
        ("Repairable", "In stock now"),
        "Holds four mugs of tea.",
    ),
    Article(
        "Enamel Mug",
        "Camp kitchen",
        12,
        4.9,
        684,
        130,
        ("Moss", "Rust", "Sand"),
        ("In stock now",),
        "Chips with dignity.",
    ),
    Article(
        "Nest Cook Set",
        "Camp kitchen",
        64,
        4.4,
        98,
        610,
        ("Slate",),
        ("Recycled", "In stock now"),
        "Two pots, a pan and a lid that strains.",
    ),
)
# town, street, telephone, weekday hours, Sunday hours, what else it has
SHOPS = (
    (
        "Calderwick",
        "14 Weavers Row",
        "555 0141",
        "9:30 – 18:00",
        "11:00 – 16:00",
        ("Boot fitting", "Repairs", "Gas canisters"),
    ),
    ("Thornby", "2 Station Parade", "555 0162", "9:00 – 17:30", "closed", ("Boot fitting", "Climbing wall")),
    ("Ashmere", "The Old Mill", "555 0178", "9:30 – 18:00", "10:30 – 16:30", ("Repairs", "Café", "Boot fitting")),
    ("Lower Fenn", "31 Market Place", "555 0109", "10:00 – 17:00", "closed", ("Gas canisters", "Map desk")),
    ("Port Hallow", "Quay House", "555 0187", "9:00 – 19:00", "11:00 – 17:00", ("Boot fitting", "Repairs", "Map desk")),
)
REVIEWS = (
    ("Dried by lunchtime", "Morag", 5, "Three wet days in April and my jumper stayed dry."),
    ("True to size", "Elliot", 5, "I am usually between sizes; the guide was right."),
    ("Good, not perfect", "Priyanka", 4, "The zip is stiff for the first week. After that, lovely."),
    ("Repaired for free", "Joss", 5, "I tore it on a gate and they sewed it while I had a coffee."),
)
GUIDES = (
    ("How to choose a rucksack", "Measure your back, not your ambition."),
    ("Layers without tears", "Three thin things beat one thick thing."),
    ("A first night wild", "Where to pitch, what to leave behind."),
    ("Waterproof, explained", "What the numbers on the label mean for an ordinary Sunday."),
)
ART = {
    "Jackets": "M46 20l14 8 14-8 20 12 10 44-12 4-8-28v38H36V52l-8 28-12-4 10-44zM60 28v62M46 20c2-12 26-12 28 0",
    "Boots": "M38 16h24v34l34 16v18H34zM34 84h62M62 34h-12M62 42h-12",
    "Rucksacks": "M40 30c0-20 40-20 40 0v56H40zM48 54h24v20H48zM52 16v-6h16v6M40 46h-8v30h8M80 46h8v30h-8",
    "Tents": "M60 14L14 84h92zM60 14v70M60 84l16-26 14 26M10 84h100",
    "Sleeping": "M20 40c0-14 20-14 24 0l50 4c10 2 10 30 0 32l-50 4c-4 12-24 12-24 0zM44 40v40",
    "Camp kitchen": "M36 34h44v40c0 8-44 8-44 0zM80 42h10c8 0 8 20 0 20H80M46 24c0-6 6-6 6-12M60 24c0-6 6-6 6-12",
}
