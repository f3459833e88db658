import { expect, test } from "vitest";
import { drawnByHand } from "../src/board/pen";

test("a stroke begins and ends where it should, bends a little, and always the same way", () => {
  const path = drawnByHand({ x: 1, y: 0, to_x: 1, to_y: 3 });
  expect(path).toBe(drawnByHand({ x: 1, y: 0, to_x: 1, to_y: 3 }));
  const [, x, y] = /^M100 0Q(\S+) (\S+) 100 300$/.exec(path)!.map(Number);
  expect(y).toBe(150);
  expect(Math.abs(x! - 100)).toBeGreaterThan(0);
  expect(Math.abs(x! - 100)).toBeLessThan(8);
});
