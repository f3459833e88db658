"""The server dies between a write and its answer, or in the middle of the write: asking again settles it."""

import pytest
from websockets.exceptions import ConnectionClosed

from tests.torture.bare import sit
from tests.torture.writers import DIE

pytestmark = pytest.mark.e2e


@pytest.fixture
def story(fail, knock):
    """A server that dies at the command `fatal`, and a player who has just sent it."""

    def tell(when):
        server = fail(kind="mortal", **{DIE: f"{when} fatal"})
        guest, room = server.guest("Ann"), server.open_room()["id"]
        ann = sit(knock, server, room, guest)
        last = ann.chat("the last that was answered").response["seq"]
        with pytest.raises(ConnectionClosed):
            ann.chat("last words", id="fatal")
        assert "last words" not in [said["text"] for said in ann.pushes("chat")]
        assert server.wait(5) == -9
        server.kill()
        server.environment[DIE] = ""
        server.start()
        return last, sit(knock, server, room, guest, since=last), room, server

    return tell


def test_what_was_written_before_the_death_is_told_on_return_and_done_once(story):
    last, ann, room, server = story("after")
    assert [(said["seq"], said["text"]) for said in ann.pushes("chat")] == [(last + 1, "last words")]
    assert ann.chat("last words", id="fatal").response == {"seq": last + 1}
    assert len(ann.pushes("chat")) == 1
    assert server.room(room)["seq"] == ann.pushes("sync")[0]["seq"]


def test_what_was_not_yet_written_at_the_death_never_happened_and_can_be_asked_again(story):
    last, ann, room, server = story("before")
    assert ann.pushes("chat") == []
    here = ann.pushes("sync")[0]["seq"]
    assert here == last + 2  # she was disconnected by the start, and came back
    assert ann.chat("last words", id="fatal").response == {"seq": here + 1}
    assert server.room(room)["seq"] == here + 1
