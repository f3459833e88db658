"""How much one connection, player or address may ask for, so that nobody can hurt another."""

import ipaddress
from collections import Counter
from collections.abc import Mapping, Sequence

from parlour.errors import Code, Refused
from parlour.server.clock import Clock
from parlour.server.settings import Settings
from parlour.wire import Enter, EnterByDoor, Exit, LobbyWish, Queue, SendChat, Wish

CREATE_COST = 10.0
"""A new room or a new player is dearer than a move."""
MOVE_COST = 1.0
FRAME_COST = 0.5
"""What a frame costs that asks for nothing: a ping, a fragment, a heartbeat, noise; and to leave a room."""
HOUR = 3600.0
STRIKES = 200
"""So many refusals in a row for haste, and a connection is cut."""


def cost_of(wish: Enter | Exit | Wish | LobbyWish) -> float:
    """What a request costs of its sender's allowance, in moves."""
    match wish:
        case EnterByDoor(opens=True) | Queue():
            return CREATE_COST  # a door may have to open the room
        case Enter():
            return 2.0
        case SendChat():
            return 3.0
        case Exit():
            return FRAME_COST
        case _:
            return MOVE_COST


class Bucket:
    """An allowance that fills by and by."""

    __slots__ = ("_at", "_left")

    def __init__(self, burst: float, now: float) -> None:
        self._left = burst
        self._at = now

    def take(self, cost: float, rate: float, burst: float, now: float) -> bool:
        """Spend, if there is enough left."""
        left = min(burst, self._left + (now - self._at) * rate)
        self._at = now
        self._left = left - cost if left >= cost else left
        return left >= cost

    def has(self, cost: float, rate: float, burst: float, now: float) -> bool:
        """There is enough left."""
        return min(burst, self._left + (now - self._at) * rate) >= cost

    def charge(self, cost: float, rate: float, burst: float, now: float) -> None:
        """Spend, also where there is not enough left: what is owed is at most a whole bucket."""
        left = min(burst, self._left + (now - self._at) * rate)
        self._at = now
        self._left = max(left - cost, -burst)

    def is_full(self, rate: float, burst: float, now: float) -> bool:
        """True if the bucket is full again, so that it need not be kept in memory."""
        return self._left + (now - self._at) * rate >= burst


class Allowances:
    """A bucket for each of many, forgotten when full again; a rate of 0 means no limit."""

    def __init__(
        self, rate: float, clock: Clock, *, seconds: float = 4.0, dearest: float = CREATE_COST
    ) -> None:
        self._rate = rate
        self._burst = max(rate * seconds, dearest)  # or what costs most could never be paid for
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}
        self._spent: dict[str, float] | None = None
        """What each has spent here since `heaviest` was last asked, once that is counted."""

    def take(self, whose: str, cost: float, now: float | None = None) -> bool:
        """Spend of somebody's allowance, if there is enough left."""
        if not self._rate:
            return True
        if now is None:
            now = self._clock.now()
        taken = self._bucket(whose, now).take(cost, self._rate, self._burst, now)
        if taken and self._spent is not None:
            self._spent[whose] = self._spent.get(whose, 0.0) + cost
        return taken

    def _bucket(self, whose: str, now: float) -> Bucket:
        bucket = self._buckets.get(whose)
        if bucket is None:
            bucket = self._buckets[whose] = Bucket(self._burst, now)
        return bucket

    def has(self, whose: str, cost: float) -> bool:
        """Whether that much is left of somebody's allowance."""
        bucket = self._buckets.get(whose)
        return bucket is None or bucket.has(cost, self._rate, self._burst, self._clock.now())

    def count_spending(self) -> None:
        """Count from now on what each spends, for other workers that have the same limit."""
        self._spent = {}

    def heaviest(self, most: int, share: float) -> dict[str, float]:
        """What those have spent since the last time who spent most, and at least that share of a second's."""
        spent = {whose: cost for whose, cost in (self._spent or {}).items() if cost >= share * self._rate}
        self.count_spending()
        if len(spent) <= most:
            return spent
        return dict(sorted(spent.items(), key=lambda one: one[1], reverse=True)[:most])

    def charge(self, spent: Mapping[str, float]) -> None:
        """Charge what was spent at another worker."""
        if not self._rate:
            return
        now = self._clock.now()
        for whose, cost in spent.items():
            self._bucket(whose, now).charge(cost, self._rate, self._burst, now)

    def forget_full(self) -> None:
        """Let go of those who are quiet."""
        now = self._clock.now()
        full = [whose for whose, b in self._buckets.items() if b.is_full(self._rate, self._burst, now)]
        for whose in full:
            del self._buckets[whose]


class Quota:
    """Counts what is held at once, in total and by each holder of a kind; a limit of 0 means no limit.

    >>> relays = Quota("relays", 100, address=1)
    >>> relays.take(address="203.0.113.9")
    >>> relays.take(address="203.0.113.9")
    Traceback (most recent call last):
    ...
    parlour.errors.Refused: ('too_many', 'at most 1 relays for one address at a time')
    """

    def __init__(self, what: str, total: int, **each: int) -> None:
        self._what = what
        self._total = total
        self._each = each
        self._held = 0
        self._held_by: Counter[tuple[str, str]] = Counter()

    def take(self, amount: int = 1, **holders: str) -> None:
        """Count *amount* for these holders and in total; refused with `too_many` where it is too much."""
        self.check(amount, **holders)
        self.count(amount, **holders)

    def check(self, amount: int = 1, **holders: str) -> None:
        """Refuse with `too_many` what `take` would refuse."""
        if self._total and self._held + amount > self._total:
            raise Refused(Code.TOO_MANY, f"at most {self._total} {self._what} on this server at a time")
        for kind, holder in holders.items():
            limit = self._each[kind]
            if limit and self._held_by[kind, holder] + amount > limit:
                raise Refused(Code.TOO_MANY, f"at most {limit} {self._what} for one {kind} at a time")

    def count(self, amount: int = 1, **holders: str) -> None:
        """Count *amount*, which is there already, even where it is too much."""
        self._held += amount
        self._held_by.update(dict.fromkeys(holders.items(), amount))

    def give_back(self, amount: int = 1, **holders: str) -> None:
        """Count *amount* no longer."""
        self._held -= amount
        for holder in holders.items():
            self._held_by[holder] -= amount
            if self._held_by[holder] <= 0:
                del self._held_by[holder]

    def change(self, before: int, now: int, **holders: str) -> None:
        """Count *now* where *before* was counted, even where it is too much."""
        self.give_back(before, **holders)
        if now:
            self.count(now, **holders)


class Limits:
    """All that is counted about who asks."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._players = Allowances(settings.player_rate, clock)
        self.by_address = Allowances(settings.address_rate, clock)
        self.accounts = Allowances(settings.address_accounts / HOUR, clock, seconds=HOUR, dearest=1.0)
        """How many accounts an address may still open."""
        self._sockets = Quota("connections", 0, address=settings.address_connections)
        self._calls = Quota("connections", 0, address=settings.address_connections)
        """TCP connections that are no sockets: calls, and those that say nothing."""

    def admit(self, address: str) -> None:
        """Count a socket, unless its address has too many."""
        self._sockets.take(address=address)

    def release(self, address: str) -> None:
        """A socket of this address is gone."""
        self._sockets.give_back(address=address)

    def admit_call(self, peer: str | None) -> str | None:
        """Count a new TCP connection; the address to release when it ends, or None for a known proxy's."""
        if peer in self._settings.proxies:
            return None
        address = address_of(peer, [], [])
        self._calls.take(address=address)
        return address

    def release_call(self, address: str) -> None:
        """A TCP connection is gone, or has become a socket, which is counted as such."""
        self._calls.give_back(address=address)

    def new_bucket(self) -> Bucket | None:
        """The allowance of one connection; None where there is no limit."""
        return Bucket(4 * self._settings.rate, self._clock.now()) if self._settings.rate else None

    def may_ask(self, bucket: Bucket | None, player: str | None, address: str, cost: float) -> bool:
        """Whether this connection, its player (if it is one) and its address may spend that much now."""
        rate, now = self._settings.rate, self._clock.now()
        if bucket is not None and not bucket.take(cost, rate, 4 * rate, now):
            return False
        if player is not None and not self._players.take(player, cost, now):
            return False
        return self.by_address.take(address, cost, now)

    def check_call(self, address: str, cost: float) -> None:
        """Whether this address may make another HTTP call."""
        if not self.by_address.take(address, cost):
            raise too_fast()

    def count_account(self, address: str) -> None:
        """Count an account that this address opens, unless it has opened too many."""
        if not self.accounts.take(address, 1.0):
            most = self._settings.address_accounts
            why = f"at most {most:g} new accounts an hour from one address; try again later"
            raise Refused(Code.TOO_FAST, why)

    def sweep(self) -> None:
        """Let go of those who are quiet."""
        for allowances in (self._players, self.by_address, self.accounts):
            allowances.forget_full()


def too_fast() -> Refused:
    """What the hasty are told."""
    return Refused(Code.TOO_FAST, "too many requests; wait a moment and try again")


def is_encrypted(peer: str | None, forwarded: Sequence[str], proxies: Sequence[str]) -> bool:
    """Whether somebody reached us by https: we speak none ourselves, but a known proxy may do so for us.

    It says so at the end of the last of its X-Forwarded-Proto headers.

    >>> is_encrypted("127.0.0.1", ["http", "https"], ["127.0.0.1"])
    True
    >>> is_encrypted("203.0.113.9", ["https"], ["127.0.0.1"]), is_encrypted("127.0.0.1", [], ["127.0.0.1"])
    (False, False)
    """
    return peer in proxies and bool(forwarded) and forwarded[-1].rpartition(",")[2].strip() == "https"


def address_of(peer: str | None, forwarded: Sequence[str], proxies: Sequence[str]) -> str:
    """Whom to count: an IPv4 address, or the /64 network of an IPv6 one.

    A known proxy says for whom it asks, at the end of the last of its X-Forwarded-For headers.

    >>> address_of("203.0.113.9", [], [])
    '203.0.113.9'
    >>> address_of("2001:db8:1:2:3:4:5:6", [], [])
    '2001:db8:1:2::/64'
    >>> address_of("127.0.0.1", ["198.51.100.7", "192.0.2.1, 203.0.113.9"], ["127.0.0.1"])
    '203.0.113.9'
    """
    if forwarded and peer in proxies:
        peer = forwarded[-1].rpartition(",")[2].strip()
    try:
        address = ipaddress.ip_address(peer or "")
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)
