// Hands of cards, piles, hexagons and ways: where things lie, and what a press on them means.
import { expect, test } from "vitest";
import { EMPTY, press, spotAt } from "../src/board/hand";
import { narrowed } from "../src/board/narrow";
import { along, hexagon, way } from "../src/board/outline";
import { arranged } from "../src/board/places";
import { things, type FullSpot } from "../src/board/things";
import { stopsOf } from "../src/board/walk";
import { spoken } from "../src/board/words";
import type { Piece, Spot } from "../src/wire";

function spot(more: Partial<Spot>): FullSpot {
  return things({ spots: [{ id: "s", x: 0, y: 0, label: "s", ...more }] }).spots.get("s")!;
}

const cards = (count: number) => Array.from({ length: count }, () => ({ owner: null, look: "card" as const }));

test("cards lie side by side as long as there is room, then over each other, and never beyond their hand", () => {
  const few = arranged(spot({ shape: "hand", w: 10, h: 1.4 }), cards(3));
  expect(few[1]!.x - few[0]!.x).toBeCloseTo(few[0]!.size);
  const many = arranged(spot({ shape: "hand", w: 6, h: 1.4 }), cards(13));
  expect(many[1]!.x - many[0]!.x).toBeLessThan(many[0]!.size / 2);
  expect(many[0]!.x - many[0]!.size / 2).toBeCloseTo(0);
  expect(many[12]!.x + many[0]!.size / 2).toBeCloseTo(6);
});

test("a card fills a place of its own proportions", () => {
  expect(arranged(spot({ w: 2, h: 2.8 }), cards(1))).toMatchObject([{ x: 1, y: 1.4, size: 2 }]);
});

test("several counters on one spot stand beside each other", () => {
  const places = arranged(spot({}), Array.from({ length: 8 }, (_, owner) => ({ owner, look: "counter" as const })));
  expect(new Set(places.map(({ x, y }) => `${x} ${y}`)).size).toBe(8);
  for (const { x, y } of places) expect(Math.max(Math.abs(x - 0.5), Math.abs(y - 0.5))).toBeLessThan(0.5);
});

const HAND: Piece[] = [
  { id: "k1", look: "card", spot: "h", at: 0, label: "ace of spades", click: { play: 1 } },
  { id: "k2", look: "card", spot: "h", at: 1, label: "two of hearts" },
  { id: "b1", look: "card_back", spot: "o", at: 0, label: "card face down" },
  { id: "b2", look: "card_back", spot: "o", at: 1, label: "card face down" },
];
const table = things({
  width: 4,
  height: 4,
  spots: [{ id: "h", x: 0, y: 2, w: 4, h: 2, shape: "hand", label: "your hand" }, { id: "o", x: 0, y: 0, w: 4, h: 2, shape: "hand", label: "the hand of Bob" }],
  pieces: HAND,
});

test("of a hand just the pressed card is meant, and none where it cannot be played", () => {
  expect(press(table, EMPTY, { spot: "h", piece: "k1" }).send).toEqual({ play: 1 });
  expect(press(table, EMPTY, { spot: "h", piece: "k2" }).send).toBeUndefined();
  expect(press(table, EMPTY, { spot: "h" }).send).toBeUndefined();
});

test("the keyboard stops at each card that is seen, and once at a hand that is not", () => {
  expect(stopsOf(table).map(({ id }) => id)).toEqual(["k1", "k2", "o"]);
  expect(spoken(table.spots.get("o")!, HAND.slice(2) as never, [])).toBe("the hand of Bob, 2 cards face down");
});

test("what a piece stands for is read out", () => {
  const purse = things({ spots: [{ id: "p", x: 0, y: 0, label: "purse" }], pieces: [{ id: "c", look: "counter", spot: "p", count: 5, label: "coin" }] });
  expect(spoken(purse.spots.get("p")!, [...purse.pieces.values()], [])).toBe("purse, 5 coins");
});

test("where the boxes of hexagons overlap, the nearest is meant", () => {
  const two = things({
    width: 2,
    height: 2,
    spots: [{ id: "a", x: 0, y: 0, h: 1.1547, shape: "hex", label: "a" }, { id: "b", x: 0.5, y: 0.866, h: 1.1547, shape: "hex", label: "b" }],
  });
  expect(spotAt(two, 0.55, 0.9)).toBe("a");
  expect(spotAt(two, 1, 1.4)).toBe("b");
});

test("outlines are paths at 100 to the unit", () => {
  expect(hexagon({ x: 0, y: 0, w: 1, h: 1.2 })).toBe("M50 0L100 30L100 90L50 120L0 90L0 30Z");
  expect(way([[0, 0], [1, 0]])).toBe("M0 0L100 0");
  expect(way([[0, 0], [1, 0], [1, 1]])).toMatch(/^M0 0C.* 100 0C.* 100 100$/);
  expect(along([[0, 0], [4, 0]], 1).map(({ x }) => x)).toEqual([100, 200, 300]);
});

test("on a narrow screen spots have their other places, and what was not moved is the same object", () => {
  const scene = things({
    width: 9,
    height: 5,
    spots: [{ id: "a", x: 0, y: 0, label: "a" }, { id: "p", x: 1, y: 1, w: 2, h: 2, shape: "polygon", points: [[1, 1], [3, 1], [2, 3]] }],
    narrow: { width: 4, height: 8, places: { p: [0, 0, 4, 4] } },
  });
  const small = narrowed(scene);
  expect([small.width, small.height]).toEqual([4, 8]);
  expect(small.spots.get("p")!.points).toEqual([[0, 0], [4, 0], [2, 4]]);
  expect(small.spots.get("a")).toBe(scene.spots.get("a"));
  expect(narrowed(scene).spots).toBe(small.spots);
});
