import { expect, test } from "vitest";
import { ago, atStake, change, form, inARow, ladderParts, longest, ratingsOn, record, streak, strength } from "../src/ladder/words";
import type { GameResult, Standing } from "../src/wire";

const standing = (more: Partial<Standing> = {}): Standing => ({ ladder: "tictactoe", player: "ann", name: "Ann", ...more });

test("a strength is told with the bounds that the leaderboard goes by", () => {
  const rating = { rating: 1662.21, deviation: 145.2, volatility: 0.06 };
  expect(strength(standing({ rating }))).toEqual({ rating: "1662", within: "± 290" });
  expect(strength(standing())).toEqual({ rating: "1500", within: "± 700" });
});

test("a record leaves out what never happened", () => {
  expect(record(standing({ won: 12, drew: 1, lost: 3 }))).toBe("12 won, 1 drawn, 3 lost");
  expect(record(standing({ lost: 1 }))).toBe("1 lost");
});

test("a streak begins with the second game, and losses make one, too", () => {
  expect([0, 1, 2, -1, -3].map((count) => streak(standing({ streak: count })))).toEqual(["", "", "2 wins in a row", "", "3 losses in a row"]);
});

test("the longest streak is told when it is over", () => {
  expect(longest(standing({ longest: 5, streak: 2 }))).toBe("once 5 wins in a row");
  expect([longest(standing({ longest: 5, streak: 5 })), longest(standing({ longest: 1, streak: -1 }))]).toEqual(["", ""]);
});

test("a ladder is a game, or a variant of one", () => {
  expect([ladderParts("tictactoe"), ladderParts("backgammon/fevga")]).toEqual([["tictactoe", undefined], ["backgammon", "fevga"]]);
});

test("the time since a game is told in words for a week, then as a date", () => {
  const day = 86_400;
  const written = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
  const said = [5, 60, 125, 3_600, 3 * 3_600, day, 6.9 * day, 8 * day].map((seconds) => ago(100 * day, 100 * day + seconds, written));
  expect(said).toEqual(["just now", "1 minute ago", "2 minutes ago", "1 hour ago", "3 hours ago", "1 day ago", "6 days ago", "11 Apr 1970"]);
});

test("facts stand in a row, and what says nothing is left out", () => {
  expect(inARow("2 won", "", "ranked")).toBe("2 won\u00a0· ranked");
});

const result = (more: Partial<GameResult>): GameResult => ({
  player: "ann", how: "won", why: "", game: "tictactoe", ladder: "tictactoe", against: [], room: "ABCD", number: 1, seq: 9, date: 0, ...more,
});

test("a ranked game says what it made of the rating", () => {
  expect(change(result({ rating_before: 1500, rating_after: 1662.2 }))).toBe("+162");
  expect(change(result({ rating_before: 1500.4, rating_after: 1493.3 }))).toBe("\u22127");
  expect(change(result({}))).toBe("");
});

test("what is at stake is seen in short and heard in words, a draw only where there are some", () => {
  const stake = { player: "ann", rating: 1500.4, won: 1512.4, drew: 1499.8, lost: 1491.1 };
  expect(atStake(stake)).toEqual({ shown: "+12 / ±0 / \u22129", said: "a win +12, a draw ±0, a loss \u22129" });
  expect(atStake({ ...stake, drew: null })).toEqual({ shown: "+12 / \u22129", said: "a win +12, a loss \u22129" });
  expect(atStake({ player: "ann", rating: 1500, won: null, drew: null, lost: null })).toBe(null);
});

test("the last games are read out with the newest last", () => {
  expect(form([result({ how: "lost" }), result({ how: "won" })])).toBe("The last games: won, lost");
});

test("the curve of a ladder begins with a newcomer's rating where every game is known", () => {
  const told = [{ ladder: "tictactoe", date: 1, rating: 1600 }, { ladder: "stratego", date: 2, rating: 1400 }];
  expect(ratingsOn(standing({ won: 1 }), told)).toEqual([1500, 1600]);
  expect(ratingsOn(standing({ won: 400 }), told)).toEqual([1600]);
});
