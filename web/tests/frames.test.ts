import { expect, test } from "vitest";
import { Frames, firstOf, frameAt, frames, gameOf, turnAt, turns } from "../src/replay/frames";
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

test("a history that comes in parts makes the same pictures, and those of earlier parts are not drawn again", () => {
  const steps = [
    step(0, { scene: { status: "one" }, seats: [{ id: "ann", name: "Ann" }] }),
    step(1, { patch: status("two") }),
    step(2, { scene: { status: "two" } }),
    step(3, { patch: status("three") }),
  ];
  const parts = new Frames();
  parts.add(steps.slice(0, 2));
  const [first] = parts.list;
  parts.add(steps.slice(2));
  expect(parts.list).toEqual(frames(steps));
  expect(parts.list[0]).toBe(first);
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

test("a turn is a line that the game wrote down, and the frame in which it did", () => {
  const found = frames([
    step(0, { scene: { status: "Roll" }, seats: [{ id: "ann", name: "Ann" }] }),
    step(1, { patch: status("3 and 5") }),
    step(2, { patch: { log: ["{0} 53: 8/3 6/3"] } }),
    step(3, { patch: status("6 and 1") }),
    step(4, { patch: { log: ["{1} 61: 24/23 8/2", "{1} resigns"] } }),
  ]);
  expect(turns(found).map(({ text, frame }) => [text, frame])).toEqual([
    ["{0} 53: 8/3 6/3", 2], ["{1} 61: 24/23 8/2", 4], ["{1} resigns", 4],
  ]);
  expect([0, 1, 2, 3, 4].map((frame) => turnAt(turns(found), frame))).toEqual([-1, -1, 0, 0, 2]);
});

test("a game that writes nothing down has a turn for each frame, and never a status sentence", () => {
  const found = frames([step(0, { scene: { status: "Waiting" } }), step(4, { patch: status("Your turn") })]);
  expect(turns(found).map(({ text }) => text)).toEqual(["Step 0", "Step 4"]);
});

test("a step that is not there has no frame; one that changed nothing has that of the step before", () => {
  const found = frames([step(0, { scene: { status: "one" } }), step(1, { patch: status("two") }), step(2)]);
  expect([0, 1, 2, 3].map((seq) => frameAt(found, seq))).toEqual([0, 1, 1, undefined]);
});

test("whoever looks back in a rematch sees that game, and not the one before", () => {
  const found = frames([
    step(0, { scene: {} }),
    step(1, { patch: { log: ["{0}: centre"] } }),
    step(2, { patch: { log: ["{1}: left"] } }),
    step(3, { patch: { set: { log: [], status: "anew" } } }),
    step(4, { patch: { log: ["{0}: centre"] } }),
  ]);
  expect(gameOf(found, ["{0}: centre"]).map(({ seq }) => seq)).toEqual([3, 4]);
});
