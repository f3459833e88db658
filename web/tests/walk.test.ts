import { expect, test } from "vitest";
import { entrance, walk } from "../src/board/walk";
import { row, scenes } from "./told";

test("arrows go to the neighbour, and stay at the edge", () => {
  const board = scenes("tictactoe")[0]!;
  expect(walk(board, "c4", "ArrowRight")).toBe("c5");
  expect(walk(board, "c4", "ArrowUp")).toBe("c1");
  expect(walk(board, "c5", "ArrowRight")).toBe("c5");
});

test("every square of every board can be reached by the arrows", () => {
  for (const name of ["tictactoe", "stratego", "backgammon", "connect_four"]) {
    const scene = scenes(name)[0]!;
    const labelled = [...scene.spots.values()].filter((spot) => spot.label !== "");
    const reached = new Set([labelled[0]!.id]);
    for (const from of reached) {
      for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) reached.add(walk(scene, from, key));
    }
    expect(labelled.filter(({ id }) => !reached.has(id)).map(({ id }) => id), name).toEqual([]);
  }
});

test("a surface without a label is walked over", () => {
  expect(walk(row(3, [], { b: { label: "" } }), "a", "ArrowRight")).toBe("c");
});

test("the keyboard begins where something can be done", () => {
  const spots = [...row(3).spots.values()];
  expect(entrance(spots, ({ id }) => id === "b")).toBe("b");
  expect(entrance(spots, () => false)).toBe("a");
});
