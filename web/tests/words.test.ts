import { expect, test } from "vitest";
import { aroundNames, clockFace, named, shown, spoken, turnOf } from "../src/board/words";
import { scenes } from "./told";

test("a number in braces is the name of whoever has that seat", () => {
  expect(named("{0} waits for {1}", ["Ann", null])).toBe("Ann waits for player 2");
});

test("a name that looks like a seat stays a name", () => {
  expect(named("{0}", ["{1}", "Bob"])).toBe("{1}");
});

test("a screen reader hears the spot and what stands on it", () => {
  const scene = scenes("backgammon")[0]!;
  const pile = [...scene.pieces.values()].filter(({ spot }) => spot === "p6");
  expect(spoken(scene.spots.get("p6")!, pile, ["Ann", "Bob"])).toBe("point 6, 5 checkers of Ann");
});

test("a clock that runs down stops at nothing, one that stands does not run", () => {
  expect(shown({ seconds: 30, at: 100, down: true }, 110)).toBe(20);
  expect(shown({ seconds: 30, at: 100, down: true }, 200)).toBe(0);
  expect(shown({ seconds: 0, at: 100 }, 107)).toBe(7);
  expect(shown({ seconds: 12, down: true }, 500)).toBe(12);
});

test("a clock shows minutes and seconds, and 0:00 only when time is up", () => {
  expect(clockFace(65)).toBe("1:05");
  expect(clockFace(0.3, true)).toBe("0:01");
  expect(clockFace(3725)).toBe("1:02:05");
});

test("the names of bots are found in a sentence, the longer first", () => {
  expect(aroundNames("Easy bot 2 wins against Easy bot", ["Easy bot", "Easy bot 2"])).toEqual(["", "Easy bot 2", " wins against ", "Easy bot", ""]);
  expect(aroundNames("C++ (bot) wins", ["C++ (bot)"])).toEqual(["", "C++ (bot)", " wins"]);
  expect(aroundNames("Your turn", [])).toEqual(["Your turn"]);
});

test("a line of a log says whose turn it was, if it begins with a player", () => {
  expect(turnOf("{1} 61: 24/23 8/2")).toEqual({ seat: 1, who: "{1}", what: "61: 24/23 8/2" });
  expect(turnOf("{0}: centre")).toEqual({ seat: 0, who: "{0}:", what: "centre" });
  expect(turnOf("portes: {0} wins 2").seat).toBeNull();
});
