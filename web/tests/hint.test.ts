import { expect, test } from "vitest";
import { things } from "../src/board/things";
import { adviceOf } from "../src/room/hint";

const scene = things({
  width: 2,
  height: 1,
  spots: [
    { id: "a", x: 0, y: 0, label: "column 1, row 1: closed", click: { type: "open", x: 1, y: 1 }, second: { type: "flag", x: 1, y: 1 } },
    { id: "b", x: 1, y: 0, label: "point 6" },
  ],
  pieces: [{ id: "p", look: "disc", spot: "b", drops: { a: { type: "move", from: 6, to: 1 } } }],
  controls: [{ id: "roll", text: "Roll", event: { type: "roll" } }],
});

test("advice to press a spot shows that spot and says what it is called", () => {
  expect(adviceOf(scene, { y: 1, x: 1, type: "open" })).toEqual({ spots: ["a"], text: "Try column 1, row 1" });
  expect(adviceOf(scene, { type: "flag", x: 1, y: 1 }).text).toBe("Try a right click or a long press on column 1, row 1");
});

test("advice to move a piece shows where it stands and where it goes", () => {
  expect(adviceOf(scene, { type: "move", from: 6, to: 1 })).toEqual({ spots: ["b", "a"], text: "Try point 6 to column 1, row 1" });
});

test("advice to press a control names it", () => {
  expect(adviceOf(scene, { type: "roll" })).toEqual({ spots: [], text: "Try “Roll”" });
});

test("advice that is nowhere on the board is said to be so, and no advice, too", () => {
  expect(adviceOf(scene, { type: "dance" }).text).toMatch(/cannot be shown/);
  expect(adviceOf(scene, null).text).toBe("There is nothing to do just now.");
});
