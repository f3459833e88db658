"""The boards of tests/boards, played for a few moves."""

from typing import Any

from examples.fox import FoxAndHounds
from parlour.game import Game
from parlour.testing import Table
from tests.boards import auction, dice, hexes, morris, routes, tricks
from tests.scenes import Moments

PEOPLE = ("ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal")


def played(game: Game[Any], seats: int, moves: int, eyes: str = "ann") -> Moments:
    """A game in which everybody does the first thing that is legal, as one of them sees it."""
    table = Table(game, luck=3).sit(*PEOPLE[:seats])
    moments = [("The beginning", table.scene(eyes))]
    for number in range(moves):
        for player in PEOPLE[:seats]:
            legal = list(game.legal_events(table.state, player) or ())
            if legal:
                table.act(player, legal[(7 * number) % len(legal)])
                moments.append((f"Move {number + 1}", table.scene(eyes)))
                break
    return moments


def tricks_story() -> Moments:
    """Nine cards, so that two tricks are taken and a third is on the table."""
    return played(tricks.Tricks(), 4, 9)


def hexes_story() -> Moments:
    """Some stones of both."""
    return played(hexes.Hexes(), 2, 10)


def morris_story() -> Moments:
    """All men are placed, and move."""
    return played(morris.Morris(), 2, 12)


def auction_story() -> Moments:
    """Two lots are sold, and some bid for the third."""
    table = Table(auction.Auction()).sit(*PEOPLE[:5])
    moments = [("The first lot", table.scene("ann"))]
    for number, coins in enumerate((3, 5, 2, 1, 4, 6, 2, 3, 1, 0, 2, 4, 1)):
        table.act(PEOPLE[number % 5], auction.Bid(coins))
        moments.append((f"Bid {number + 1}", table.scene("ann")))
    return moments


def routes_story() -> Moments:
    """Seven roads are built."""
    return played(routes.Routes(), 5, 7)


def dice_story() -> Moments:
    """Some of eight have rolled."""
    return played(dice.Dice(), 8, 12)


def fox_story() -> Moments:
    """The fox comes out and two hounds go to meet it: pieces that are pictures of the game's own."""
    return played(FoxAndHounds(), 2, 6)
