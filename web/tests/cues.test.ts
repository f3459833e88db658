import { expect, test } from "vitest";
import { isMyTurn, soundOf, turnBegins } from "../src/attention/cues";
import { SCORE } from "../src/attention/score";
import { patched, things } from "../src/board/things";
import { NOWHERE, type RoomState } from "../src/room/state";
import type { Outcome, Patch } from "../src/wire";

const SCENE = things({
  width: 2, height: 1, turn: [1],
  spots: [{ id: "a", x: 0, y: 0 }, { id: "b", x: 1, y: 0 }],
  pieces: [{ id: "p", look: "disc", spot: "a" }],
});
const ROOM: RoomState = { ...NOWHERE, player: "ann", seat: 0, seq: 4, scene: SCENE };
const after = (patch: Patch, more: Partial<RoomState> = {}): RoomState => ({ ...ROOM, seq: 5, scene: patched(SCENE, patch), ...more });
const ended = (outcome: Outcome) => after({ pieces: [{ id: "p", spot: "b" }] }, { result: { outcome, seed: "", seed_hash: "" } as RoomState["result"] });

test("a piece that moves is heard, as its step says", () => {
  expect(soundOf(ROOM, after({ pieces: [{ id: "p", spot: "b" }] }))).toBe("move");
  expect(soundOf(ROOM, after({ pieces: [{ id: "p", spot: "b" }], set: { cue: "capture" } }))).toBe("capture");
  expect(soundOf(ROOM, after({ gone: ["p"], set: { cue: "" } }))).toBe(null);
});

test("the same cue twice is heard twice", () => {
  const once = after({ pieces: [{ id: "p", spot: "b" }], set: { cue: "deal" } });
  const twice = { ...once, seq: 6, scene: patched(once.scene!, { pieces: [{ id: "p", spot: "a" }] }) };
  expect(soundOf(once, twice)).toBe("deal");
});

test("what is not seen is not heard: a click that becomes possible, a clock, a status", () => {
  expect(soundOf(ROOM, after({ spots: [{ id: "a", click: { type: "mark" } }] }))).toBe(null);
  expect(soundOf(ROOM, after({ set: { status: "Your turn", clocks: [{ seconds: 1 }] } }))).toBe(null);
});

test("a room that was just entered is silent", () => {
  expect(soundOf({ ...NOWHERE }, ROOM)).toBe(null);
  expect(soundOf(ROOM, { ...ROOM, present: {} })).toBe(null);
});

test("the end sounds as it is for whoever hears it", () => {
  expect(soundOf(ROOM, ended({ won: ["ann"], lost: ["bob"] }))).toBe("win");
  expect(soundOf(ROOM, ended({ won: ["bob"], lost: ["ann"] }))).toBe("lose");
  expect(soundOf(ROOM, ended({ drew: ["ann", "bob"] }))).toBe("check");
  expect(soundOf({ ...ROOM, player: "cy" }, { ...ended({ won: ["bob"], lost: ["ann"] }), player: "cy" })).toBe("win");
});

test("a turn begins when it becomes mine, and not when I come in", () => {
  const mine = after({ set: { turn: [0] } });
  expect(turnBegins(ROOM, mine)).toBe(true);
  expect(turnBegins(mine, { ...mine, seq: 6 })).toBe(false);
  expect(turnBegins(NOWHERE, mine)).toBe(false);
  expect(isMyTurn({ ...mine, seat: null })).toBe(false);
});

test("every sound is short and never too loud", () => {
  for (const notes of Object.values(SCORE)) {
    expect(notes.length).toBeGreaterThan(0);
    for (const { at, long, loud } of notes) {
      expect(at + long).toBeLessThan(1.3);
      expect(loud).toBeLessThanOrEqual(0.7);
    }
  }
});
