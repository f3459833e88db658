import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { shown } from "../src/board/words";
import { seatClock } from "../src/room/clocks";
import { NOWHERE, heard } from "../src/room/state";
import { leaps, steady } from "../src/steady";
import type { Clocks } from "../src/wire";

beforeEach(() => vi.useFakeTimers({ now: 400_000 }));
afterEach(() => vi.useRealTimers());

const HOUR = 3_600_000;

describe("the page's own time", () => {
  it("moves no running clock when somebody sets the computer's", () => {
    const clocks: Clocks = { settings: { kind: "increment", seconds: 300, extra: 0 }, seats: [{ left: 300, since: 1000 }, { left: 300 }] };
    const room = heard(NOWHERE, { name: "sync", told: { seq: 3, now: 1000, clocks }, at: steady() / 1000 });
    const left = () => Math.round(shown(seatClock(room.clocks, 0)!, steady() / 1000 + room.skew));
    expect(left()).toBe(300);
    vi.advanceTimersByTime(5000);
    expect(left()).toBe(295);
    vi.setSystemTime(Date.now() + HOUR);
    expect(left()).toBe(295);
    vi.setSystemTime(Date.now() - 2 * HOUR);
    vi.advanceTimersByTime(5000);
    expect(left()).toBe(290);
  });

  it("is in doubt once after the computer's clock was set, or did not count while the computer slept", () => {
    const leapt = leaps();
    vi.advanceTimersByTime(HOUR);
    expect(leapt()).toBe(false);
    vi.setSystemTime(Date.now() + 5000);
    expect([leapt(), leapt()]).toEqual([true, false]);
    vi.setSystemTime(Date.now() - 5000);
    expect([leapt(), leapt()]).toEqual([true, false]);
  });
});
