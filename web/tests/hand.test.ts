import { expect, test } from "vitest";
import { EMPTY, drop, keptUp, press, pressSecond, settled, spotAt, spotNear, targets } from "../src/board/hand";
import { asChosen, patched } from "../src/board/things";
import { row, scenes } from "./told";

const GO = { type: "go" };
const disc = (id: string, spot: string, more: object = {}) => ({ id, look: "disc" as const, spot, ...more });
const movable = row(4, [disc("m", "a", { drops: { b: { to: "b" }, c: { to: "c" } } }), disc("n", "d")]);

test("a click on a spot with an event sends it", () => {
  expect(press(row(2, [], { a: { click: GO } }), EMPTY, { spot: "a" }).send).toBe(GO);
});

test("a click on a spot without an event sends nothing", () => {
  expect(press(row(2), EMPTY, { spot: "a" })).toEqual({ hand: EMPTY });
});

test("a click on a piece without an event of its own is a click on its spot", () => {
  const scene = row(2, [disc("m", "a")], { a: { click: GO } });
  expect(press(scene, EMPTY, { spot: "a", piece: "m" }).send).toBe(GO);
});

test("a piece that can go somewhere is picked up, and its targets are known without asking", () => {
  const { hand, send } = press(movable, EMPTY, { spot: "a", piece: "m" });
  expect(send).toBeUndefined();
  expect(hand.picked).toBe("m");
  expect([...targets(movable.pieces.get(hand.picked!)!)]).toEqual(["b", "c"]);
});

test("a click on a target sends the event of that drop, and the piece is shown there until the server speaks", () => {
  const { hand } = press(movable, EMPTY, { spot: "a", piece: "m" });
  const done = press(movable, hand, { spot: "c" });
  expect(done.send).toEqual({ to: "c" });
  expect(done.hand).toEqual({ picked: null, put: { piece: "m", spot: "c" } });
  expect(settled(done.hand)).toEqual(EMPTY);
});

test("a click on it again, or elsewhere, lets a picked piece go", () => {
  const picked = { ...EMPTY, picked: "m" };
  expect(press(movable, picked, { spot: "a", piece: "m" })).toEqual({ hand: EMPTY });
  expect(press(movable, picked, { spot: "d", piece: "n" })).toEqual({ hand: EMPTY });
});

test("where a click picks a piece up, a double click does what the click would have done", () => {
  const scene = asChosen(row(2, [disc("m", "a", { click: GO, unless: "pick_up", drops: { b: { to: "b" } } })]), () => true);
  const { hand } = press(scene, EMPTY, { spot: "a", piece: "m" });
  expect(hand.picked).toBe("m");
  expect(press(scene, hand, { spot: "a", piece: "m", again: true })).toEqual({ hand: EMPTY, send: GO });
  expect(press(scene, hand, { spot: "a", piece: "m" })).toEqual({ hand: EMPTY });
});

test("a click that puts its piece into a tray says so, so that a double click puts one away; elsewhere two quick clicks are two", () => {
  const scene = row(3, [disc("m", "a", { click: { to: 1, from: 2 }, drops: { b: GO, c: { from: 2, to: 1 } } })], { c: { shape: "tray" } });
  expect(press(scene, EMPTY, { spot: "a", piece: "m" }).away).toBe(true);
  const onward = row(3, [disc("m", "a", { click: GO, drops: { b: GO, c: { from: 2, to: 1 } } })], { c: { shape: "tray" } });
  expect(press(onward, EMPTY, { spot: "a", piece: "m" }).away).toBeUndefined();
});

test("a click on another piece that can move picks that one up", () => {
  const scene = row(3, [disc("m", "a", { drops: { c: GO } }), disc("n", "b", { drops: { c: GO } })]);
  expect(press(scene, { ...EMPTY, picked: "m" }, { spot: "b", piece: "n" }).hand.picked).toBe("n");
});

test("a target lies also under the pieces on it", () => {
  const scene = row(2, [disc("m", "a", { drops: { b: GO } }), disc("n", "b", { owner: 1 })]);
  expect(press(scene, { ...EMPTY, picked: "m" }, { spot: "b", piece: "n" }).send).toBe(GO);
});

test("in a pile a click on any piece, or on the spot, is for the uppermost that can do something", () => {
  const pile = [disc("low", "a", { at: 0 }), disc("top", "a", { at: 1, drops: { b: GO } })];
  const scene = row(2, pile, { a: { shape: "up", h: 5 } });
  expect(press(scene, EMPTY, { spot: "a", piece: "low" }).hand.picked).toBe("top");
  expect(press(scene, EMPTY, { spot: "a" }).hand.picked).toBe("top");
});

test("an event that is no object is another than every other", () => {
  const scene = row(3, [disc("m", "a", { click: "turn", drops: { c: "put away" } })], { c: { shape: "tray" } });
  expect(press(scene, EMPTY, { spot: "a", piece: "m" }).away).toBeUndefined();
  const same = row(3, [disc("m", "a", { click: "put away", drops: { c: "put away" } })], { c: { shape: "tray" } });
  expect(press(same, EMPTY, { spot: "a", piece: "m" }).away).toBe(true);
});

test("in a tray the piece that was pressed is meant", () => {
  const two = [disc("one", "a", { at: 0, drops: { b: GO } }), disc("two", "a", { at: 1, drops: { b: GO } })];
  const scene = row(2, two, { a: { shape: "tray", w: 2 } });
  expect(press(scene, EMPTY, { spot: "a", piece: "one" }).hand.picked).toBe("one");
});

test("a right click sends the second event of a spot, and nothing where there is none", () => {
  const scene = row(2, [], { a: { click: GO, second: { type: "flag" } } });
  expect(pressSecond(scene, EMPTY, { spot: "a" }).send).toEqual({ type: "flag" });
  expect(pressSecond(scene, EMPTY, { spot: "b" }).send).toBeUndefined();
});

test("a drop elsewhere than on a target sends nothing", () => {
  expect(drop(movable, { ...EMPTY, picked: "m" }, "m", "d")).toEqual({ hand: EMPTY });
});

test("a drop finds the target under it, also where other spots lie around", () => {
  expect(spotAt(movable, 1.4, 0.5, new Set(["b"]))).toBe("b");
  expect(spotAt(movable, 3.4, 0.5, new Set(["b"]))).toBeUndefined();
});

test("a picked piece that cannot move any more is let go when the scene changes", () => {
  const after = patched(movable, { pieces: [{ id: "m", drops: {} }] });
  expect(keptUp(after, { ...EMPTY, picked: "m" })).toEqual(EMPTY);
  expect(keptUp(movable, { ...EMPTY, picked: "m" }).picked).toBe("m");
});

test("on a board of backgammon a click on a point plays its uppermost checker by the larger die", () => {
  expect(press(scenes("backgammon")[2]!, EMPTY, { spot: "p24" }).send).toEqual({ type: "move", from: 24, to: 18 });
});

test("for whoever chose so, the uppermost checker of a point is picked up by a click on the point", () => {
  const scene = asChosen(scenes("backgammon")[2]!, () => true);
  const { hand } = press(scene, EMPTY, { spot: "p24" });
  expect([...targets(scene.pieces.get(hand.picked!)!)].sort()).toEqual(["p18", "p23"]);
});

test("the cube is offered by a click, although it stands in a tray", () => {
  const scene = scenes("backgammon")[1]!;
  expect(press(scene, EMPTY, { spot: "cube", piece: "doubling" }).send).toEqual({ type: "double" });
});

test("a finger that misses a live spot by a little means that spot, the nearest first", () => {
  const scene = row(4);
  const near = (x: number, live: string) => spotNear(scene, x, 0.5, 1.5, ({ id }) => live.includes(id));
  expect([near(1.2, "a"), near(1.3, "a"), near(2.1, "bd"), near(2.5, "ab")]).toEqual(["a", undefined, "b", undefined]);
  expect(spotNear(scene, 1.2, 1.1, 1, () => true)).toBeUndefined();
});
