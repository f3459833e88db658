// What the card at the end of a game tells.
import { expect, test } from "vitest";
import { lines, ratingChange } from "../src/room/ending";
import type { GameResult } from "../src/wire";

const result = (more: Partial<GameResult>): GameResult => ({
  player: "ann", how: "won", why: "", game: "tictactoe", ladder: "tictactoe", against: [], room: "ABCD", number: 1, seq: 9, date: 0, ranked: true, ...more,
});

test("a ranked game tells the rating before and after, and which way it went", () => {
  expect(ratingChange([result({ rating_before: 1500, rating_after: 1662.3 })], "ABCD")).toEqual({ before: "1500", after: "1662", by: "+162", way: "up" });
  expect(ratingChange([result({ rating_before: 1500.4, rating_after: 1480.2 })], "ABCD")).toMatchObject({ by: "\u221220", way: "down" });
  expect(ratingChange([result({ rating_before: 1500, rating_after: 1500 })], "ABCD")).toMatchObject({ by: "\u00b10", way: "same" });
});

test("of several games in one room the newest counts, and no game of another room", () => {
  const newest = result({ rating_before: 1600, rating_after: 1610 });
  expect(ratingChange([result({ room: "EFGH", rating_before: 1, rating_after: 2 }), newest, result({ rating_before: 3, rating_after: 4 })], "ABCD")?.after).toBe("1610");
});

test("a game that is not rated changes no rating", () => {
  expect(ratingChange([], "ABCD")).toBe(null);
  expect(ratingChange([result({ ranked: false })], "ABCD")).toBe(null);
});

test("players have lines where there is a score or a rating", () => {
  const seats = [{ id: "ann", name: "Ann" }, null, { id: "bob", name: "Bob" }];
  expect(lines(seats, [], {}, ["ann"])).toEqual([]);
  expect(lines(seats, [{ score: "5" }, {}, { score: "3" }], {}, ["ann"]).map(({ player, score, won }) => [player.name, score, won])).toEqual([
    ["Ann", "5", true],
    ["Bob", "3", false],
  ]);
});
