import { expect, test } from "vitest";
import { changed } from "../src/lobby/rooms";
import type { PublicRoom } from "../src/wire";

const room = (id: string, created: number, status = "waiting"): PublicRoom => ({
  id, created, status, game: "tictactoe", seats: [null, null], spectators: 0, seq: 0, outcome: null, ended: null, config: {},
  private: false, listed: true, ranked: false, seed_hash: "", seeds: [], score: [], watching: "anyone", apart: false,
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
