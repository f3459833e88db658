// How the panel for authors names steps and values.
import { expect, it } from "vitest";
import type { Viewer } from "../src/developers/panel/calls";
import { folded, inLine, stepWords, viewerWords } from "../src/developers/panel/words";

const nobody: Viewer = { seat: 1, player: null, token: null, view: null, scene: null, problem: null };
const ann: Viewer = { ...nobody, seat: 0, player: { id: "a", name: "Ann" }, token: "t" };
const step = (command: { do: string; [field: string]: unknown }) => ({ seq: 1, at: 0, command });

it("names who made a step, with the event as it was sent", () => {
  expect(stepWords(step({ do: "act", player: "a", event: { type: "mark", cell: 4 } }), [ann])).toBe('Ann {"type":"mark","cell":4}');
  expect(stepWords(step({ do: "connect", player: "a" }), [ann])).toBe("Ann connect");
  expect(stepWords(step({ do: "join", player: "b", name: "Bob" }), [ann])).toBe("Bob join");
  expect(stepWords(step({ do: "ring", key: "turn", event: { type: "late" } }), [ann])).toBe('timer turn {"type":"late"}');
  expect(stepWords(step({ do: "hold", seconds: 3 }), [ann])).toBe("hold");
});

it("names seats from 0, as games count them", () => {
  expect([ann, nobody, { ...ann, seat: null }].map(viewerWords)).toEqual(["Seat 0: Ann", "Seat 1: free", "Spectator"]);
});

it("puts short values in one line, and folds long ones", () => {
  expect([inLine([1, 2]), inLine("x".repeat(90)), inLine({}), inLine(null)]).toEqual(["[1,2]", `"${"x".repeat(90)}"`, "{}", "null"]);
  const long = Array.from({ length: 40 }, (_, n) => n);
  expect([inLine(long), folded(long), folded({ a: 1, b: 2 })]).toEqual([null, "[40]", "{2}"]);
});
