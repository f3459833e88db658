"""Topics: everything that is told in a room goes to one, and each place in it hears some of them."""

from typing import Any

import msgspec

from parlour.game import Joined

ALL = "all"
"""The topic of everybody in a room."""
SEATED = ":seated"
"""Heard by those with a seat, in a room where players and spectators talk apart."""
WATCHING = ":watching"
"""Heard by everybody else there."""


def topic_name(room: str, topic: str) -> str:
    """The platform's own string behind a topic.

    >>> topic_name("ABCD", "all"), topic_name("ABCD", "player:ann"), topic_name("ABCD", "team:red")
    ('game:ABCD', 'game:ABCD:player:ann', 'game:ABCD:team:red')
    """
    return f"game:{room}" if topic == ALL else f"game:{room}:{topic}"


def own_topic(player: str) -> str:
    """The topic that only this player hears."""
    return f"player:{player}"


def is_own_topic(topic: str) -> bool:
    """Whether only one player hears this topic."""
    return topic.startswith("player:")


def talk_topic(*, seated: bool, apart: bool) -> str:
    """The topic in which somebody with or without a seat talks.

    >>> talk_topic(seated=True, apart=False), talk_topic(seated=True, apart=True)
    ('all', ':seated')
    """
    return ALL if not apart else SEATED if seated else WATCHING


def topics_of(player: str, joined: Joined[Any], *, apart: bool = False) -> tuple[str, ...]:
    """Everything that a welcome lets a player hear: the game's topics, ``all``, their own, their talk."""
    talk = talk_topic(seated=joined.seat is not None, apart=apart)
    topics = tuple(dict.fromkeys((*joined.topics, ALL, own_topic(player), talk)))
    return msgspec.convert(topics, tuple[str, ...])
