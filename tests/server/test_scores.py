"""Ranked games count: for the ladder and for the player's page, in the very step that ended them."""

from tests.server.world import World

MOVES = (0, 3, 1, 4, 2)


async def play(world: World, mode: str) -> tuple[str, str]:
    """A whole game between two from the lobby; who won, who lost."""
    people = {name: await world.person(name) for name in ("ann", "bob")}
    for name, person in people.items():
        await person.send(["L", name, "lobby", "phx_join", {}])
        await person.send(["L", "q", "lobby", "queue", {"game": "tictactoe", "mode": mode}])
    room = people["ann"].heard("matched")[-1][1]["room"]
    for person in people.values():
        await person.join(room)
    x, o = world.room(room).players
    for turn, cell in enumerate(MOVES):
        assert (await people[(x, o)[turn % 2]].play(room, {"type": "mark", "cell": cell}))[0] == "ok"
    return x, o


async def test_a_ranked_game_counts_on_its_ladder():
    async with World() as world:
        won, lost = await play(world, "ranked")
        first, second = await world.journal.standings("tictactoe", 10)
        assert (first.player, second.player) == (won, lost)
        assert first.rating.rating > 1600
        assert second.rating.rating < 1400


async def test_a_normal_game_is_a_result_and_counts_on_no_ladder():
    async with World() as world:
        won, lost = await play(world, "normal")
        assert await world.journal.standings("tictactoe", 10) == []
        (result,) = await world.journal.results_of(won, 10)
        assert (result.how, result.why, result.ranked) == ("won", "three in a row", False)
        assert [player.id for player in result.against] == [lost]
        found = await world.journal.room(result.number)
        assert found is not None
        assert found.card.id == result.room


async def test_the_next_ranked_ticket_has_the_new_rating():
    async with World() as world:
        won, _ = await play(world, "ranked")
        again = await world.person(won)
        await again.send(["L", "1", "lobby", "phx_join", {}])
        await again.send(["L", "2", "lobby", "queue", {"game": "tictactoe", "mode": "ranked"}])
        (ticket,) = world.host.pairing._open.values()
        assert ticket.rating > 1600


async def test_standings_outlast_a_restart():
    async with World() as world:
        won, _ = await play(world, "ranked")
        again = await world.restart()
        assert (await again.journal.standings("tictactoe", 1))[0].player == won
        await again.host.stop()
