import { expect, test } from "vitest";
import { flipped } from "../src/board/flip";
import { patched, things } from "../src/board/things";

const BOARD = things({
  width: 3, height: 2,
  spots: [{ id: "a", x: 0, y: 0 }, { id: "b", x: 2, y: 0, h: 2, shape: "up" }],
  pieces: [{ id: "p", look: "x", spot: "a" }],
});

test("a board that is turned around has every spot on the other side", () => {
  const { spots } = flipped(BOARD);
  expect([spots.get("a")!.x, spots.get("a")!.y]).toEqual([2, 1]);
  expect([spots.get("b")!.x, spots.get("b")!.y, spots.get("b")!.shape]).toEqual([0, 0, "down"]);
});

test("lines are turned with the board", () => {
  const lined = { ...BOARD, lines: [{ x: 1, y: 0, to_x: 1, to_y: 2 }] };
  expect(flipped(lined).lines).toEqual([{ x: 2, y: 2, to_x: 2, to_y: 0 }]);
});

test("turned around twice it is as it was", () => {
  expect(flipped(flipped(BOARD)).spots).toEqual(BOARD.spots);
});

test("spots that did not change are the very same objects after a move", () => {
  const before = flipped(BOARD);
  const moved = flipped(patched(BOARD, { pieces: [{ id: "p", spot: "b" }] }));
  expect(moved.spots).toBe(before.spots);
  const marked = flipped(patched(BOARD, { spots: [{ id: "a", mark: "last" }] }));
  expect(marked.spots.get("b")).toBe(before.spots.get("b"));
});
