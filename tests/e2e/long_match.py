"""A match of many steps, played over sockets, for those who look at its replay."""

from itertools import count

from tests.e2e.backgammon import hasten
from tests.e2e.servers import Server


def play_long_match(server: Server, steps: int) -> str:
    """A room of tavla in which that many things were done; its id."""
    room: str = server.open_room("backgammon", config={"variant": "tavla", "match": "seven_points"})["id"]
    tokens = [server.guest(name).token for name in ("Ann", "Bob")]
    done = count()
    hasten(server, tokens, room, lambda _: next(done) >= steps)
    return room
