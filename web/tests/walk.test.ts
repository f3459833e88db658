import { expect, test } from "vitest";
import { entrance, stopsOf, walk } from "../src/board/walk";
import { narrowed } from "../src/board/narrow";
import { row, scenes } from "./told";

test("arrows go to the neighbour, and stay at the edge", () => {
  const board = stopsOf(scenes("tictactoe")[0]!);
  expect(walk(board, "c4", "ArrowRight")).toBe("c5");
  expect(walk(board, "c4", "ArrowUp")).toBe("c1");
  expect(walk(board, "c5", "ArrowRight")).toBe("c5");
});

test("every square of every board, and every card of a hand, can be reached by keys", () => {
  for (const name of ["tictactoe", "stratego", "backgammon", "connect_four", "tricks", "hexes", "morris", "auction", "routes", "dice"]) {
    for (const scene of scenes(name).flatMap((scene) => [scene, narrowed(scene)])) {
      const all = stopsOf(scene);
      const reached = new Set([all[0]!.id]);
      for (const from of reached) {
        for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown"]) reached.add(walk(all, from, key));
      }
      expect(all.filter(({ id }) => !reached.has(id)).map(({ id }) => id), name).toEqual([]);
    }
  }
});

test("a surface without a label is walked over", () => {
  expect(walk(stopsOf(row(3, [], { b: { label: "" } })), "a", "ArrowRight")).toBe("c");
});

test("the keyboard begins where something can be done", () => {
  const spots = stopsOf(row(3));
  expect(entrance(spots, ({ id }) => id === "b")).toBe("b");
  expect(entrance(spots, () => false)).toBe("a");
});
