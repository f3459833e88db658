import { describe, expect, it } from "vitest";
import { clockFace, shown } from "../src/board/words";
import { allWrong } from "../src/form";
import { awayClock, clockFields, clockTerms, CLOCKS, filledClock, seatClock, timeWords, whileClocked } from "../src/room/clocks";
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

  it("is none where the room has none, or only limits how long one is away", () => {
    expect(seatClock(null, 0)).toBeUndefined();
    expect(seatClock({ settings: { kind: "none", away: { seconds: 60 } }, seats: [{ left: 0 }], away: [{ left: 60 }] }, 0)).toBeUndefined();
  });

  it("stands where it is while they may be away in their turn, and counts that", () => {
    const away: Clocks = { ...clocks("delay", 10), seats: [{ left: 200, spent: 30 }, { left: 300, spent: 5 }], away: [{ left: 60, since: 1000 }, { left: 60 }] };
    expect([0, 1].map((seat) => shown(seatClock(away, seat)!, 1030))).toEqual([180, 300]);
    expect(shown(awayClock(away, 0)!, 1030)).toBe(30);
    expect(awayClock(away, 1)).toBeUndefined();
    expect(awayClock(clocks("turn"), 0)).toBeUndefined();
  });
});

describe("the time that players have", () => {
  it("is said in words", () => {
    expect(CLOCKS.map(timeWords)).toEqual([
      "3 minutes and 2 seconds more a turn",
      "5 minutes and 3 seconds more a turn",
      "15 minutes and 10 seconds more a turn",
      "10 minutes, the first 12 seconds of a turn free",
      "30 seconds a turn",
      "1 minute a turn",
      "1 day a turn",
      "3 days a turn",
    ]);
    expect(timeWords({ kind: "increment", seconds: 300 })).toBe("5 minutes for the game");
  });

  it("is accepted with what happens when it is over, and to whoever is gone", () => {
    expect(clockTerms({ kind: "turn", seconds: 60, away: { seconds: 300 } })).toEqual(["1 minute a turn", "Lost after 5 minutes away"]);
    expect(clockTerms({ kind: "turn", seconds: 60, at_zero: "bot" })).toEqual(["1 minute a turn; then a bot makes the move"]);
    expect(clockTerms({ kind: "none", away: { seconds: 60, at_zero: "claim" } })).toEqual(["The win can be claimed after 1 minute away"]);
  });

  it("says what closing the page costs", () => {
    expect(whileClocked({ kind: "turn", seconds: 60 })).toBe("Your seat is kept until your time is over: the clock runs on.");
    expect(whileClocked({ kind: "turn", seconds: 60, away: { seconds: 60 } })).toBe("You can be away for 1 minute in all, and your clock stands still meanwhile.");
    expect(whileClocked({ kind: "none", away: { seconds: 60 } })).toBe("You can be away for 1 minute in all.");
  });
});

describe("a clock of one's own", () => {
  it("is read from its fields", () => {
    expect(filledClock("increment", { time: "2.5", extra: "3" })).toEqual({ kind: "increment", seconds: 150, extra: 3 });
    expect(filledClock("delay", { time: "10", extra: "12" })).toEqual({ kind: "delay", seconds: 600, extra: 12 });
    expect(filledClock("turn", { time: "45", extra: "3" })).toEqual({ kind: "turn", seconds: 45 });
  });

  it("says what is wrong with negative or absurd time before the server does", () => {
    const faults = (kind: "turn" | "increment", time: string, extra = "0") => Object.keys(allWrong(clockFields(kind), { time, extra }));
    expect(faults("turn", "4")).toEqual(["time"]);
    expect(faults("turn", "-60")).toEqual(["time"]);
    expect(faults("turn", "")).toEqual(["time"]);
    expect(faults("increment", "1e9", "9999")).toEqual(["time", "extra"]);
    expect(faults("increment", "0.1", "0")).toEqual([]);
  });
});

describe("a room with clocks", () => {
  const joined = heard(NOWHERE, { name: "sync", told: { seq: 3, now: 1000, clocks: clocks("increment") }, at: 400 });

  it("knows them from when one comes", () => {
    expect(joined.clocks?.seats[0]).toEqual({ left: 200, since: 1000 });
    expect(joined.skew).toBe(600);
  });

  it("tells the time by the messages that were handled soonest, and follows a clock that drifts", () => {
    const told = (seq: number, now: number, at: number, room = joined) => heard(room, { name: "update", told: { seq, now }, at });
    expect(told(4, 1010, 412).skew).toBeCloseTo(599.98); // two seconds late
    expect(told(5, 1020, 420, told(4, 1010, 412)).skew).toBe(600);
    expect(told(4, 1010, 409.9).skew).toBeCloseTo(600.1);
    expect(told(4, 1010, 410.01).skew).toBeCloseTo(599.99);
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

  it("may have been gone for too long", () => {
    const gone = (at_zero: "claim" | "bot"): Clocks => ({ settings: { kind: "none", away: { seconds: 60, at_zero } }, seats: [{ left: 0 }, { left: 0 }], away: [{ left: 0, out: true }, { left: 60 }] });
    expect(lateWord(gone("claim"), seats, "bob")).toMatchObject({ text: "Ann has been away for too long.", reply: "claim" });
    expect(lateWord(gone("claim"), seats, null)?.reply).toBeNull();
    expect(lateWord(gone("bot"), seats, "bob")).toMatchObject({ text: "Ann is away for long: a bot moves until they are back.", reply: null });
  });

  it("is nobody as long as there is time", () => {
    expect(lateWord(clocks("turn"), seats, "bob")).toBeNull();
  });
});
