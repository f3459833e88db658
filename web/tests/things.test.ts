import { expect, test } from "vitest";
import { asChosen, patched, things } from "../src/board/things";
import { STORIES, row, scenes, story } from "./told";

test.each(STORIES)("the patches of %s lead to the scene that its last moment shows whole", (name) => {
  const whole = story(name).at(-1)!.scene!;
  const last = scenes(name).at(-1)!;
  const wanted = things(whole);
  expect([...last.spots]).toEqual([...wanted.spots]);
  expect(new Map([...last.pieces].sort())).toEqual(new Map([...wanted.pieces].sort()));
  expect([...last.controls]).toEqual([...wanted.controls]);
  const { spots: _s, pieces: _p, controls: _c, ...others } = last;
  const { spots: _t, pieces: _q, controls: _d, ...wantedOthers } = wanted;
  expect(others).toEqual(wantedOthers);
});

test("what a patch does not speak of stays the very same object", () => {
  const before = row(3);
  const after = patched(before, { spots: [{ id: "b", text: "2" }] });
  expect(after.spots.get("a")).toBe(before.spots.get("a"));
  expect(after.spots.get("b")).not.toBe(before.spots.get("b"));
  expect(after.pieces).toBe(before.pieces);
});

test("a field that is told as its default is taken back", () => {
  const before = row(1, [], { a: { click: { type: "go" }, mark: "last" } });
  const after = patched(before, { spots: [{ id: "a", click: null, mark: null }] });
  expect(after.spots.get("a")).toMatchObject({ click: null, mark: null, label: "a" });
});

test("a thing that is gone and told again comes last", () => {
  const after = patched(row(3), { gone: ["a"], spots: [{ id: "a", x: 0, y: 0, label: "a" }] });
  expect([...after.spots.keys()]).toEqual(["b", "c", "a"]);
});

test("lines of the log are added, and a new log takes the place of the old one", () => {
  const before = things({ log: ["one"] });
  expect(patched(before, { log: ["two"] }).log).toEqual(["one", "two"]);
  expect(patched(before, { log: ["anew"], set: { log: [] } }).log).toEqual(["anew"]);
});

test("whoever chose so picks pieces up that a click would play at once", () => {
  const scene = things({ pieces: [{ id: "x1", look: "disc", spot: "p6", click: { type: "move" }, unless: "pick_up" }, { id: "die", look: "die", spot: "d", click: {} }] });
  const clicks = (isChosen: boolean) => [...asChosen(scene, () => isChosen).pieces.values()].map(({ click }) => click);
  expect(clicks(false)).toEqual([{ type: "move" }, {}]);
  expect(clicks(true)).toEqual([null, {}]);
  expect(asChosen(scene, () => false)).toBe(scene);
});
