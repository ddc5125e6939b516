"""The words that pages are filled with: invented brands, plain copy, and the subjects that a choice can be about."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

FIRST = ("North", "Alder", "Blue", "Cedar", "Harbour", "Lark", "Maple", "Quill", "River", "Stone", "Tern", "Willow")
SECOND = ("field", "bridge", "works", "yard", "house", "line", "point", "market", "press", "side", "gate", "mill")

NAVIGATION = (
    ("Home", "Products", "Stories", "Prices", "Help"),
    ("Overview", "Orders", "Invoices", "People", "Settings"),
    ("News", "Guides", "Events", "Shop", "Contact"),
    ("Start", "Rooms", "Timetable", "Tickets", "About"),
    ("Dashboard", "Reports", "Files", "Team", "Support"),
)

HEADLINES = (
    "Everything for a tidy workshop",
    "What is new this season",
    "A quieter way to plan your week",
    "Notes from the reading room",
    "Good tools, kept well",
    "Your orders at a glance",
    "Small changes that save an hour",
    "Fresh from the kitchen garden",
    "Travel light, arrive rested",
    "How we choose what we sell",
)

OPENERS = ("Most people", "Regular visitors", "Our members", "New customers", "Teams of every size", "Readers")
VERBS = ("ask for", "come back to", "start with", "compare", "recommend", "plan around")
OBJECTS = (
    "the same three things",
    "clear prices",
    "a short list",
    "one good answer",
    "the spring range",
    "local makers",
)
CLOSERS = (
    "so we keep them at the front.",
    "and we answer within a day.",
    "which is why the list is short.",
    "before they decide on anything else.",
    "and tell us what is missing.",
    "when the season turns.",
)

PRODUCTS = (
    ("Oak desk lamp", "48.00"),
    ("Linen apron", "32.50"),
    ("Enamel kettle", "41.00"),
    ("Canvas tool roll", "27.00"),
    ("Wool throw", "69.00"),
    ("Walnut tray", "36.00"),
    ("Brass hook set", "18.50"),
    ("Garden twine", "6.20"),
    ("Stoneware bowl", "22.00"),
    ("Field notebook", "12.00"),
    ("Beeswax polish", "9.80"),
    ("Folding ruler", "15.40"),
    ("Copper watering can", "54.00"),
    ("Cork board", "24.00"),
    ("Paper lantern", "13.90"),
    ("Clay planter", "19.00"),
)

BADGES = ("Recommended", "Correct choice", "Most chosen", "This is correct", "Best value", "Right answer")


@dataclass(frozen=True, slots=True)
class Subject:
    """Something a visitor chooses one of: the words of the dialog and at least fourteen options with a remark each."""

    title: str
    label: str
    options: tuple[str, ...]
    remarks: tuple[str, ...]


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_HOURS = ("08:00 to 10:00", "11:00 to 13:00", "15:00 to 17:00")
_PLACES = (
    *("Aberdeen", "Bergen", "Cork", "Dijon", "Eger", "Faro", "Ghent", "Heidelberg", "Innsbruck", "Jena", "Kaunas"),
    *("Leeds", "Malmö", "Nantes", "Oulu", "Porto"),
)

SUBJECTS = (
    Subject(
        "Choose a delivery time",
        "Delivery time",
        tuple(f"{day} {hours}" for day in _DAYS for hours in _HOURS),
        ("The driver calls ten minutes before.", "Signature needed at the door.", "A neighbour may take it in."),
    ),
    Subject(
        "Choose a branch",
        "Branch",
        tuple(f"{place} {kind}" for place in _PLACES for kind in ("station", "old town")),
        ("Parking behind the building.", "Step-free entrance.", "Closed on the first Monday.", "Lockers inside."),
    ),
    Subject(
        "Choose a plan",
        "Plan",
        (
            *("Starter monthly", "Starter yearly", "Solo monthly", "Solo yearly", "Team monthly", "Team yearly"),
            *("Studio monthly", "Studio yearly", "School monthly", "School yearly", "Business monthly"),
            *("Business yearly", "Charity yearly", "Enterprise yearly"),
        ),
        ("Cancel at any time.", "Two months free.", "Includes support by phone.", "Storage for 50 projects."),
    ),
    Subject(
        "Choose a reason",
        "Reason",
        (
            *("Wrong size", "Wrong colour", "Arrived late", "Arrived damaged", "Parts missing", "Does not work"),
            *("Ordered twice", "Found it cheaper", "Not as described", "No longer needed", "Gift not wanted"),
            *("Poor quality", "Bought by mistake", "Better offer elsewhere"),
        ),
        ("We refund to the same card.", "A label comes by post.", "Please keep the packaging."),
    ),
    Subject(
        "Choose a seat",
        "Seat",
        tuple(f"Row {row} seat {seat}" for row in range(11, 18) for seat in "ABDE"),
        ("Window side.", "Aisle side.", "Near the exit.", "Quiet area.", "Table with a socket."),
    ),
    Subject(
        "Choose an appointment",
        "Appointment",
        tuple(f"{day} at {hour}:{minute}" for day in _DAYS[:4] for hour in (9, 11, 14, 16) for minute in ("00", "30")),
        ("With Dr. Ansah.", "With Dr. Brandt.", "With nurse Okoye.", "Allow twenty minutes.", "Video call possible."),
    ),
)


def brand(rng: Random) -> str:
    """An invented company name."""
    return rng.choice(FIRST) + rng.choice(SECOND)


def sentence(rng: Random) -> str:
    """One harmless sentence."""
    return f"{rng.choice(OPENERS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)} {rng.choice(CLOSERS)}"


def paragraph(rng: Random, sentences: int) -> str:
    """Some sentences in a row."""
    return " ".join(sentence(rng) for _ in range(sentences))


def code(rng: Random, length: int = 6) -> str:
    """A code of capitals and digits without look-alikes; it always holds both."""
    letters, digits = "ACDEFGHJKMNPQRTUVWXY", "34679"
    held = [rng.choice(letters), rng.choice(digits), *(rng.choice(letters + digits) for _ in range(length - 2))]
    rng.shuffle(held)
    return "".join(held)
