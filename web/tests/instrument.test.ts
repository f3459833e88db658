// The instrument, where a browser does not let a page be heard yet.
import { beforeEach, expect, test, vi } from "vitest";

/** A browser's sound that waits for a gesture: what is struck is counted. */
class Blocked {
  static struck = 0;
  static allow: () => void;
  static decline: () => void;
  static state = "suspended";
  state = Blocked.state;
  currentTime = 0;
  destination = {};
  #allowed = new Promise<void>((answer) => {
    Blocked.allow = () => { this.state = "running"; answer(); };
    Blocked.decline = answer;
  });
  resume = () => this.#allowed;
}

class Wire {
  gain = { setValueAtTime() {}, linearRampToValueAtTime() {}, exponentialRampToValueAtTime() {} };
  frequency = this.gain;
  connect = (next: object) => next;
  start = () => (Blocked.struck += 1);
  stop() {}
}

let play: typeof import("../src/attention/instrument").play;

beforeEach(async () => {
  for (const [name, fake] of Object.entries({ AudioContext: Blocked, OscillatorNode: Wire, GainNode: Wire })) vi.stubGlobal(name, fake);
  vi.resetModules();
  Blocked.struck = 0;
  Blocked.state = "suspended";
  ({ play } = await import("../src/attention/instrument"));
});

test("sounds that were blocked are dropped, and not played all at once when the page may be heard", async () => {
  let now = 0;
  const waiting = [1000, 2000, 3000].map((at) => play("move", () => (now = Math.max(now, at))));
  now = 60_000;
  Blocked.allow();
  await Promise.all(waiting);
  expect(Blocked.struck).toBe(0);
  await play("move", () => now);
  expect(Blocked.struck).toBe(3); // one knock is three tones
});

test("a sound that the browser lets through after a moment is heard", async () => {
  const waiting = play("move", () => 1000);
  Blocked.allow();
  await waiting;
  expect(Blocked.struck).toBe(3);
});

test("what a call has interrupted is asked to go on", async () => {
  Blocked.state = "interrupted";
  const waiting = play("move", () => 1000);
  Blocked.allow();
  await waiting;
  expect(Blocked.struck).toBe(3);
});

test("nothing is struck where the call goes on", async () => {
  Blocked.state = "interrupted";
  const waiting = play("move", () => 1000);
  Blocked.decline();
  await waiting;
  expect(Blocked.struck).toBe(0);
});
