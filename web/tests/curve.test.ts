import { expect, test } from "vitest";
import { curveOf, onScale } from "../src/ladder/curve";

test("a rating that only rose goes from the lower left to the upper right", () => {
  expect(curveOf([1500, 1600, 1700], 200, 50)).toEqual({
    line: "M0 50L100 25L200 0", area: "M0 50L100 25L200 0V50H0Z", end: { x: 200, y: 0 }, lowest: 1500, highest: 1700,
  });
});

test("small changes look small: less than a hundred points do not fill the height", () => {
  expect(curveOf([1500, 1510], 100, 100)?.line).toBe("M0 55L100 45");
});

test("one rating is no curve", () => {
  expect(curveOf([1500], 100, 50)).toBeNull();
});

test("all of a ladder share one scale, from the least that somebody may be worth to the most", () => {
  const [first, second] = onScale([{ rating: 1600, deviation: 50 }, { rating: 1400, deviation: 50 }]);
  expect([first, second]).toEqual([{ at: 0.75, from: 0.5, to: 1 }, { at: 0.25, from: 0, to: 0.5 }]);
});

test("a ladder of one has a scale, too", () => {
  expect(onScale([{ rating: 1500, deviation: 0 }])).toEqual([{ at: 0, from: 0, to: 0 }]);
});
