import { describe, expect, it } from "vitest";
import { clockFace, shown } from "../src/board/words";
import { CLOCKS, clockWords, seatClock } from "../src/room/clocks";
import { lateWord } from "../src/room/offers";
import { NOWHERE, heard } from "../src/room/state";
import type { Clocks } from "../src/wire";

const clocks = (kind: "turn" | "increment" | "delay", extra = 0): Clocks => ({
  settings: { kind, seconds: 300, extra },
  seats: [{ left: 200, since: 1000 }, { left: 300 }],
  started: true,
});

describe("a player's clock", () => {
  it("runs down while it is their turn, and stands while it is not", () => {
    expect(shown(seatClock(clocks("increment", 3), 0)!, 1030)).toBe(170);
    expect(shown(seatClock(clocks("increment", 3), 1)!, 1030)).toBe(300);
  });

  it("stands for the seconds that are free at the start of a turn", () => {
    expect(shown(seatClock(clocks("delay", 10), 0)!, 1008)).toBe(200);
    expect(shown(seatClock(clocks("delay", 10), 0)!, 1030)).toBe(180);
  });

  it("shows days where there are some", () => {
    expect(clockFace(2 * 86400 + 5 * 3600 + 59, true)).toBe("2 d 5 h");
    expect(clockFace(86399, true)).toBe("23:59:59");
  });

  it("is none where the room has none", () => {
    expect(seatClock(null, 0)).toBeUndefined();
  });
});

describe("the time that players have", () => {
  it("is said in words", () => {
    expect(CLOCKS.map(clockWords)).toEqual([
      "3 minutes and 2 seconds more a turn",
      "5 minutes and 3 seconds more a turn",
      "15 minutes and 10 seconds more a turn",
      "30 seconds a turn",
      "1 day a turn",
      "3 days a turn",
    ]);
    expect(clockWords({ kind: "delay", seconds: 300, extra: 5 })).toBe("5 minutes, the first 5 seconds of a turn free");
    expect(clockWords({ kind: "increment", seconds: 300 })).toBe("5 minutes for the game");
  });
});

describe("a room with clocks", () => {
  const joined = heard(NOWHERE, { name: "sync", told: { seq: 3, now: 1000, clocks: clocks("increment") }, at: 400 });

  it("knows them from when one comes", () => {
    expect(joined.clocks?.seats[0]).toEqual({ left: 200, since: 1000 });
    expect(joined.skew).toBe(600);
  });

  it("has new ones after a move, and the old ones after a chat", () => {
    const after = heard(joined, { name: "update", told: { seq: 4, now: 1010, clocks: { ...clocks("increment"), seats: [{ left: 190 }, { left: 300, since: 1010 }] } }, at: 410 });
    expect(after.clocks?.seats[1]).toEqual({ left: 300, since: 1010 });
    expect(heard(after, { name: "update", told: { seq: 5 }, at: 411 }).clocks).toBe(after.clocks);
  });
});

describe("whose time is over while the game goes on", () => {
  const seats = [{ id: "ann", name: "Ann", bot: false }, { id: "bob", name: "Bob", bot: false }];
  const late = (at_zero: "claim" | "bot"): Clocks => ({ settings: { kind: "turn", seconds: 30, at_zero }, seats: [{ left: 0, out: true }, { left: 30 }] });

  it("can be claimed against by the other alone", () => {
    expect(lateWord(late("claim"), seats, "bob")).toMatchObject({ text: "Ann is out of time.", reply: "claim" });
    expect(lateWord(late("claim"), seats, "ann")?.reply).toBeNull();
    expect(lateWord(late("claim"), seats, null)?.reply).toBeNull();
  });

  it("has a bot move for them where the room was set up so", () => {
    expect(lateWord(late("bot"), seats, "bob")).toMatchObject({ text: "Ann is out of time: a bot makes this move.", reply: null });
  });

  it("is nobody as long as there is time", () => {
    expect(lateWord(clocks("turn"), seats, "bob")).toBeNull();
  });
});
