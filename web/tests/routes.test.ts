import { expect, test } from "vitest";
import { ladderPath, playerPath, replayPath, roomPath, routeOf } from "../src/routes";

test("an address leads to a page", () => {
  expect(routeOf("/")).toEqual({ page: "home" });
  expect(routeOf(roomPath("ABCD"))).toEqual({ page: "room", room: "ABCD" });
  expect(routeOf(replayPath("my.room"))).toEqual({ page: "replay", room: "my.room", past: null });
  expect(routeOf("/leaderboard")).toEqual({ page: "leaderboard", game: null, variant: null, bots: false });
  expect(routeOf(ladderPath("tictactoe"))).toEqual({ page: "leaderboard", game: "tictactoe", variant: null, bots: false });
  expect(routeOf(ladderPath("backgammon/fevga"))).toEqual({ page: "leaderboard", game: "backgammon", variant: "fevga", bots: false });
  expect(routeOf(ladderPath("backgammon/fevga/bots"))).toEqual({ page: "leaderboard", game: "backgammon", variant: "fevga", bots: true });
  expect(routeOf(ladderPath("tictactoe//bots"))).toEqual({ page: "leaderboard", game: "tictactoe", variant: null, bots: true });
  expect([routeOf("/watch"), routeOf("/games")]).toEqual([{ page: "watch" }, { page: "mine" }]);
  expect([routeOf("/account"), routeOf("/sign-in"), routeOf("/account/x")]).toEqual([{ page: "account" }, { page: "sign-in" }, { page: "nowhere" }]);
  expect(routeOf(playerPath("bot:perfect"))).toEqual({ page: "player", player: "bot:perfect" });
});

test("what stands behind the question mark of a room is not part of its name", () => {
  expect(routeOf("/r/ABCD?from=a-friend")).toEqual({ page: "room", room: "ABCD" });
});

test("a replay of one game says which room it was, by number, and where the game ended", () => {
  const past = { number: 12, seq: 34 };
  expect(routeOf(replayPath("ABCD", past))).toEqual({ page: "replay", room: "ABCD", past });
  expect(routeOf("/r/ABCD/replay?room=twelve&seq=1")).toEqual({ page: "replay", room: "ABCD", past: null });
});

test("an address that means nothing leads nowhere", () => {
  for (const path of ["/r/", "/r/a b", `/r/${"x".repeat(65)}`, "/p/", "/p/a/b", "/p/%", "/leaderboard/", "/leaderboard/a/b/c", "/elsewhere"])
    expect(routeOf(path)).toEqual({ page: "nowhere" });
});
