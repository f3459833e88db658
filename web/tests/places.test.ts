import { expect, test } from "vitest";
import { arranged, beside, nextPlace, piles, places } from "../src/board/places";
import { things, type FullPiece, type FullSpot } from "../src/board/things";
import type { Spot } from "../src/wire";
import { scenes } from "./told";

function spot(more: Partial<Spot>): FullSpot {
  return things({ spots: [{ id: "s", x: 0, y: 0, label: "s", ...more }] }).spots.get("s")!;
}

const mine = (count: number) => Array.from({ length: count }, () => ({ owner: 0 }));

test("a piece stands in the middle of its square", () => {
  expect(arranged(spot({ x: 2, y: 1 }), mine(1))).toMatchObject([{ x: 2.5, y: 1.5, size: 1 }]);
});

test("checkers pile up from the base of a point, away from its tip", () => {
  const up = arranged(spot({ shape: "up", h: 5 }), mine(3)).map(({ y }) => y);
  const down = arranged(spot({ shape: "down", h: 5 }), mine(3)).map(({ y }) => y);
  expect(up).toEqual([4.5, 3.5, 2.5]);
  expect(down).toEqual([0.5, 1.5, 2.5]);
});

test("more than five on a point overlap, and stay on it", () => {
  const ys = arranged(spot({ shape: "down", h: 5 }), mine(15)).map(({ y }) => y);
  expect(Math.max(...ys)).toBeCloseTo(4.5);
  expect(ys).toEqual([...ys].sort((a, b) => a - b));
});

test("a pinned checker peeps out from under the others", () => {
  const [pinned, first, second] = arranged(spot({ shape: "up", h: 5 }), [{ owner: 1 }, { owner: 0 }, { owner: 0 }]);
  expect(pinned!.y - first!.y).toBeCloseTo(0.38);
  expect(first!.y - second!.y).toBeCloseTo(1);
});

test("pieces that lie on the bare frame share their rows evenly", () => {
  const all = arranged(spot({ shape: "tray", w: 1, h: 4, fill: "none" }), mine(10));
  const left = all.filter(({ x }) => x < all[9]!.x);
  expect(left).toHaveLength(5);
  expect(left[0]!.y + left[4]!.y).toBeCloseTo(4);
});

test("pieces in a tray shrink until all of them fit", () => {
  for (const [w, h, count] of [[10, 1.1, 40], [1.2, 4, 15], [3, 1, 4], [1, 1, 1]] as const) {
    const all = arranged(spot({ shape: "tray", w, h, fill: "sunken" }), mine(count));
    expect(all).toHaveLength(count);
    expect(new Set(all.map(({ x, y }) => `${x.toFixed(3)} ${y.toFixed(3)}`)).size).toBe(count);
    for (const { x, y, size } of all) {
      expect(x - size / 2).toBeGreaterThanOrEqual(-1e-6);
      expect(y - size / 2).toBeGreaterThanOrEqual(-1e-6);
      expect(x + size / 2).toBeLessThanOrEqual(w + 1e-6);
      expect(y + size / 2).toBeLessThanOrEqual(h + 1e-6);
    }
  }
});

test("the next piece of a pile lands on top of it", () => {
  const point = spot({ shape: "up", h: 5 });
  expect(nextPlace(point, mine(2) as FullPiece[], { owner: 0 }).y).toBe(2.5);
});

test.each(["backgammon", "stratego", "connect_four", "minesweeper", "tictactoe"])(
  "every piece of %s has a place on the board",
  (name) => {
    for (const scene of scenes(name)) {
      const found = places(scene.spots, piles(scene.pieces.values()));
      expect(found.size).toBe(scene.pieces.size);
      for (const { x, y } of found.values()) {
        expect(x > 0 && x < scene.width && y > 0 && y < scene.height).toBe(true);
      }
    }
  },
);

test("in a fight both faces are seen side by side, also at the edge of the board", () => {
  const away = (x: number, owner: number, taken: boolean) =>
    Math.round(100 * (beside(spot({ x }), { owner }, taken, 10).x - (x + 0.5))) / 100;
  expect([away(4, 0, true), away(4, 1, true)]).toEqual([-0.84, 0.84]);
  expect([away(0, 0, true), away(9, 1, true)]).toEqual([0.84, -0.84]);
  for (const x of [0, 4, 9]) expect(away(x, 1, false) - away(x, 0, false)).toBeCloseTo(0.84);
});
