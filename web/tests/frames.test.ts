import { expect, test } from "vitest";
import { firstOf, frames } from "../src/replay/frames";
import type { HistoryStep } from "../src/wire";

const step = (seq: number, more: Partial<HistoryStep> = {}): HistoryStep => ({ seq, at: seq, ...more });
const status = (text: string) => ({ set: { status: text } });

test("there is a picture for each step that changed what was to be seen", () => {
  const found = frames([
    step(0, { scene: { status: "Waiting" }, seats: [null, null] }),
    step(1, { seats: [{ id: "ann", name: "Ann" }, null] }),
    step(2, { patch: status("Ann, begin") }),
    step(3, { patch: status("Bob is to move") }),
  ]);
  expect(found.map(({ scene }) => scene.status)).toEqual(["Waiting", "Ann, begin", "Bob is to move"]);
  expect(found.map(({ names }) => names[0] ?? null)).toEqual(["Ann", "Ann", "Ann"]);
});

test("the whole scene with which a later call begins is no new picture", () => {
  const found = frames([
    step(0, { scene: { status: "one" } }),
    step(1, { patch: status("two") }),
    step(2, { scene: { status: "two" } }),
    step(3, { patch: status("three") }),
  ]);
  expect(found.map(({ scene }) => scene.status)).toEqual(["one", "two", "three"]);
});

test("an outcome stays until a rematch takes it back", () => {
  const result = { outcome: { won: ["ann"] }, seed: "00", seed_hash: "11" };
  const found = frames([
    step(0, { scene: { status: "one" } }),
    step(1, { patch: status("over"), result }),
    step(2, { scene: { status: "anew" }, result: null }),
  ]);
  expect(found.map((frame) => frame.result)).toEqual([null, result, null]);
});

test("steps that today's rules do not explain are passed over", () => {
  expect(frames([step(0), step(1), step(2, { scene: { status: "there" } })])).toHaveLength(1);
});

test("a replay of one game begins where that game began", () => {
  const result = { outcome: { won: ["ann"] }, seed: "00", seed_hash: "11" };
  const found = frames([
    step(0, { scene: { status: "Waiting" } }),
    step(1, { patch: status("Ann, begin") }),
    step(2, { patch: status("Ann wins"), result }),
    step(3, { patch: status("Bob, begin"), result: null }),
    step(4, { patch: status("Ann is to move") }),
    step(5, { patch: status("Bob wins"), result }),
  ]);
  expect([2, 5, 99].map((seq) => firstOf(found, seq))).toEqual([0, 3, 0]);
});
