import { expect, test } from "vitest";
import { byKind, changed, facts, turnWords, who } from "../src/lobby/rooms";
import type { PublicRoom } from "../src/wire";

const room = (id: string, created: number, status = "waiting"): PublicRoom => ({
  id, created, status, game: "tictactoe", seats: [null, null], spectators: 0, seq: 0, outcome: null, ended: null, config: {},
  private: false, listed: true, ranked: false, seed_hash: "", seeds: [], least: 2, score: [], watching: "anyone", apart: false, clock: null, coming: [],
});
const shown = (rooms: readonly PublicRoom[]) => rooms.map(({ id, status }) => `${id} ${status}`);

test("a new room comes first, and one that is different stays where it is", () => {
  const rooms = changed([room("B", 2), room("A", 1)], { rooms: [room("C", 3), room("A", 1, "playing")], gone: [] });
  expect(shown(rooms)).toEqual(["C waiting", "B waiting", "A playing"]);
});

test("a room that is gone is listed no longer, and one that nobody knows is not missed", () => {
  const rooms = changed([room("B", 2), room("A", 1)], { rooms: [], gone: ["B", "X"] });
  expect(shown(rooms)).toEqual(["A waiting"]);
});

test("what is told twice is there once", () => {
  const told = { rooms: [room("A", 1)], gone: [] };
  expect(shown(changed(changed([], told), told))).toEqual(["A waiting"]);
});

const ann = { id: "a", name: "Ann" };
const bob = { id: "b", name: "Bob" };
const bot = { id: "bot:easy", name: "Easy bot", bot: true };

test("rooms wait for a player, are played in by people, or with bots", () => {
  const rooms = [
    { ...room("A", 1), seats: [ann, null] },
    { ...room("B", 2, "playing"), seats: [ann, bob] },
    { ...room("C", 3, "playing"), seats: [ann, bot] },
    { ...room("D", 4), seats: [bot, null] },
  ];
  const { waiting, playing, bots } = byKind(rooms);
  expect([waiting, playing, bots].map((some) => some.map(({ id }) => id))).toEqual([["A", "D"], ["B"], ["C"]]);
});

test("a game that goes on comes before those that are over", () => {
  const rooms = [{ ...room("B", 2, "over"), seats: [ann, bob] }, { ...room("A", 1, "playing"), seats: [ann, bob] }];
  expect(shown(byKind(rooms).playing)).toEqual(["A playing", "B over"]);
});

test("a list says what is played, how the match stands and who looks on, and leaves out what there is not", () => {
  expect(facts(room("A", 1), "Noughts and crosses")).toEqual(["Noughts and crosses"]);
  const match = { ...room("B", 2, "playing"), score: [3, 2], spectators: 1, ranked: true };
  expect(facts(match, "Backgammon: fevga")).toEqual(["Backgammon: fevga", "3\u2009:\u20092", "ranked", "1 person watches"]);
  expect(facts({ ...match, spectators: 4 }, "Tavla")).toContain("4 people watch");
});

test("whose turn it is is told with those who wait, and without where one plays alone", () => {
  const table = { ...room("A", 1, "playing"), seats: [ann, bob] };
  expect(who(table)).toBe("Ann and Bob");
  expect(turnWords(table, "Stratego", "a")).toBe("Your turn at Stratego: Bob waits");
  expect(turnWords({ ...table, seats: [ann, bob, { id: "c", name: "Cat" }] }, "Hearts", "a")).toBe("Your turn at Hearts: Bob and Cat wait");
  expect(turnWords({ ...table, seats: [ann] }, "Minesweeper", "a")).toBe("Minesweeper waits for you");
});
