"""What the settings of a match are called, for people who set one up."""

from parlour.set_up import Card, Label, Preset, SetUp

SERIOUS = {"crawford": True, "opening_dice": True}
"""As people play it everywhere; to programs that say nothing the config's own defaults are older."""

SET_UP = SetUp(
    cards="variant",
    presets=(
        Preset("Casual", SERIOUS, "One game. Tavli is a game of each kind.", "Match"),
        Preset("5 points", {"match": "five_points", **SERIOUS}, "As many games as it takes.", "Match"),
        Preset("7 points", {"match": "seven_points", **SERIOUS}, "As many games as it takes.", "Match"),
    ),
    labels={
        "variant": Label(
            "Variant",
            "",
            choices={
                "backgammon": Card("Backgammon", "Hit, block and double."),
                "tavla": Card("Tavla", "Backgammon without the cube."),
                "tavli": Card("Tavli", "Portes, plakoto and fevga in turn."),
                "portes": Card("Portes", "The Greek backgammon, without the cube."),
                "plakoto": Card("Plakoto", "Nobody is hit: lone checkers are pinned."),
                "fevga": Card("Fevga", "Nobody is hit: one checker holds a point."),
            },
        ),
        "match": Label(
            "Length",
            "One game means one of each kind, and the points are added up.",
            group="Match",
            choices={
                "cash": Card("One game"),
                "five_points": Card("5 points"),
                "seven_points": Card("7 points"),
            },
        ),
        "crawford": Label(
            "Crawford rule", "No doubling in the first game after somebody is one point away.", group="Match"
        ),
        "opening_dice": Label(
            "Opening roll", "Each rolls one die; the higher begins and plays both.", group="Match"
        ),
    },
    usual=SERIOUS,
    negotiable=tuple(SERIOUS),
)
