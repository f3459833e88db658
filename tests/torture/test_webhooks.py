"""Whoever is away is told of their turn across kill -9, and once; the judge finds out who does not do so."""

import msgspec
import pytest

from parlour.server.parts.notifications.push import ServerKey
from tests.push_receiver import PushReceiver
from tests.torture.planted import OF_WEBHOOKS
from tests.torture.standing_clock import EPOCH
from tests.torture.telling import Hook, Receipt, Story, Turn, judge, signed
from tests.torture.webhooks import torture_webhooks

HOOK = Hook("ann", "/ann/0", "9f86d081aaaa", "s3cret")
TURN = Turn("ann", "ABCD", 12, 34, began=100.0, ended=float("inf"))
ID = "12-34-9f86d081"


def receipt(at, tries=1, answer="ok", id=ID, life=1, **more):
    """A message as it should be; *more* says otherwise."""
    body = {"kind": "your_turn", "id": id, "player": "ann", "room": "ABCD", "date": EPOCH + 100}
    encoded = msgspec.json.encode(body | more)
    date = int(EPOCH + at)
    return Receipt(HOOK.path, id, encoded, signed("s3cret", date, encoded), life, tries, answer)


def taken(at, **more):
    """A message that was taken, which is noted."""
    told = receipt(at, **more)
    told.settled = True
    return told


def story(*receipts, turn=TURN, rests=(111, 142, 263, 1000), kills=()):
    return Story([turn], [HOOK], receipts, rests, kills)


OVER = TURN._replace(ended=130.0)


@pytest.mark.parametrize(
    "good",
    [
        story(receipt(110)),
        story(receipt(110), turn=OVER),
        story(turn=OVER._replace(ended=109.0)),
        story(receipt(110, answer="failed"), turn=OVER),
        story(receipt(110, answer="failed"), receipt(140, tries=2)),
        story(receipt(110), receipt(141, tries=2, life=2), kills=[110]),
        story(receipt(110, answer="none"), receipt(145, tries=2, life=2), kills=[110, 141], rests=[142, 263]),
        story(receipt(141, tries=2), kills=[110]),
        story(turn=OVER, kills=[111]),
    ],
)
def test_a_server_that_keeps_its_word_is_not_complained_of(good):
    assert list(judge(good)) == []


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (story(), f"/ann/0 was not told of {ID} in time"),
        (story(kills=[110]), f"/ann/0 was not told of {ID} at all"),
        (story(turn=OVER._replace(ended=150.0), kills=[110]), f"/ann/0 was not told of {ID} in time"),
        (story(turn=OVER), f"/ann/0 was not told of {ID} in time"),
        (story(receipt(130)), f"/ann/0 was not told of {ID} in time"),
        (story(receipt(110, answer="failed"), turn=OVER._replace(ended=150.0)),
         f"/ann/0 was not told of {ID} again after try 1"),
        (story(receipt(109), receipt(139, tries=2, life=2)), f"/ann/0 was told of {ID} 9 s after it began"),
        (story(receipt(110), receipt(110, id="12-35-9f86d081")),
         "/ann/0 was told of 12-35-9f86d081, which called nobody there"),
        (story(receipt(110, answer="failed"), receipt(140, tries=2), turn=OVER),
         f"/ann/0 was told of {ID} 10 s after it was over"),
        (story(receipt(110, tries=0)), f"/ann/0 was told of {ID} in a try that was not noted before"),
        (story(receipt(110, answer="failed"), receipt(140)),
         f"/ann/0 was told of {ID} in a try that was not noted before"),
        (story(receipt(110, answer="failed"), receipt(139, tries=2)),
         f"/ann/0 was told of {ID} twice in 29 s"),
        (story(receipt(110, answer="failed"), receipt(140, tries=2, answer="failed"), receipt(259, tries=3)),
         f"/ann/0 was told of {ID} twice in 119 s"),
        (story(receipt(110), receipt(140, tries=2)), f"/ann/0 was told of {ID} although it had taken that"),
        (story(taken(110), receipt(140, tries=2, life=2), kills=[139]),
         f"/ann/0 was told of {ID} although it had taken that"),
        (story(receipt(110, tries=6, answer="failed"), receipt(50_000, tries=7)),
         f"/ann/0 was told of {ID} once more after all tries had failed"),
    ],
)  # fmt: skip
def test_each_promise_about_webhooks_that_is_broken_is_complained_of(bad, complaint):
    assert complaint in list(judge(bad))


def test_a_message_that_names_another_turn_or_is_signed_with_another_secret_is_complained_of():
    assert ["wrong words" in one for one in judge(story(receipt(110, room="EFGH")))] == [True]
    forged = receipt(110)
    forged.signature = signed("another", int(EPOCH + 110), forged.body)
    assert list(judge(story(forged))) == [f"/ann/0 was told of {ID} with a signature that does not fit"]


def test_a_message_to_a_browser_is_complained_of_that_another_server_has_signed():
    mine, another = ServerKey(b"mine"), ServerKey(b"another")
    hook = HOOK._replace(secret=mine.public, browser=PushReceiver())
    told = receipt(110)
    complaints = []
    for key in (mine, another):
        told.signature = key.sign("https://push.example/", EPOCH + 110, "")
        complaints.append([*judge(story(told)._replace(hooks=[hook]))])
    assert complaints == [[], [f"/ann/0 was told of {ID} with a signature that does not fit"]]


@pytest.mark.e2e
async def test_whoever_is_away_is_told_once_across_kill_9(tmp_path):
    tellers = await torture_webhooks(tmp_path / "data", kills=4, seed=7)
    assert tellers.complaints == []
    assert tellers.counts["receipts"] >= 8, tellers.counts
    assert tellers.counts["pushed"] >= 4, tellers.counts
    assert tellers.counts["alarms"] == 0


KILLS = {"plan_in_two_writes": 20, "give_up_soon": 10}
"""Faults that not every life meets."""


@pytest.mark.e2e
@pytest.mark.long
@pytest.mark.parametrize("fault", [plant.__name__ for plant in OF_WEBHOOKS])
async def test_a_server_that_breaks_a_promise_about_webhooks_is_found_out(tmp_path, fault):
    tellers = await torture_webhooks(tmp_path / "data", kills=KILLS.get(fault, 4), seed=7, fault=fault)
    assert tellers.complaints, tellers.counts
