import { expect, test } from "vitest";
import { forFriends, spell, whileAway, whileIdle } from "../src/room/waits";
import type { Waits } from "../src/wire";

const BUNDLED: Waits = { game: 14 * 86400, away: null, nobody: null, empty: 3600, ends_under_players: false };
const STRICT: Waits = { game: 300, away: 120, nobody: 60, empty: 300, ends_under_players: true };

test("a time is told in the largest unit that says it well, and never as longer than it is", () => {
  expect([1209600, 86400, 129600, 7200, 3600, 5400, 300, 90, 60, 5, 1].map(spell)).toEqual([
    "14 days", "1 day", "36 hours", "2 hours", "1 hour", "90 minutes", "5 minutes", "90 seconds", "1 minute", "5 seconds", "1 second",
  ]);
  expect(spell(2.9 * 86400)).toBe("2 days");
});

test("whoever closes the page reads for how long the room waits, by the server's own numbers", () => {
  expect(whileAway(BUNDLED, false)).toBe("The room waits 14 days for somebody to come back.");
  expect(whileAway({ ...BUNDLED, game: null }, false)).toBe("The room waits as long as it takes.");
  expect(whileAway({ ...BUNDLED, away: 120 }, false)).toBe(
    "Your seat is kept for 2 minutes, and the room waits 14 days for somebody to come back.",
  );
  expect(whileAway(STRICT, false)).toBe("The room waits 1 minute for somebody to come back.");
});

test("a room in which the game is over is not promised for longer than it stays", () => {
  expect(whileAway(BUNDLED, true)).toBe("The room waits 1 hour for somebody to come back.");
  expect(whileAway(STRICT, true)).toBe(whileAway(STRICT, false));
});

test("whoever waits for a friend reads whether the page may be closed", () => {
  expect(forFriends(BUNDLED, 1)).toBe("You can close this page: the room waits 14 days for you both.");
  expect(forFriends(STRICT, 1)).toBe("Keep this page open: once you close it, the room waits only 1 minute.");
  expect(forFriends({ ...BUNDLED, game: null }, 1)).toBe("You can close this page: the room waits for you both.");
});

test("a room for three or more waits for all of them", () => {
  expect(forFriends(BUNDLED, 2)).toBe("You can close this page: the room waits 14 days for you all.");
  expect(forFriends({ ...BUNDLED, game: null }, 3)).toBe("You can close this page: the room waits for you all.");
});

test("a game that ends under its players says so", () => {
  expect(whileIdle(STRICT)).toBe("If nobody does anything for 5 minutes, the room closes.");
  expect(whileIdle(BUNDLED)).toBe("");
});
