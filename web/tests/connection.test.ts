import { expect, test } from "vitest";
import { connectionWords, pause } from "../src/connection";

test("nothing is said while all is well", () => {
  expect(connectionWords({ is: "connected" }, () => 0, true)).toBeNull();
});

test("a break is counted down, and a player hears that the game is safe", () => {
  const waiting = { is: "waiting", tries: 3, until: 3000 } as const;
  expect(connectionWords(waiting, () => 0, true)).toBe("Reconnecting in 3 s: your game is safe");
  expect(connectionWords(waiting, () => 2500, false)).toBe("Reconnecting in 1 s");
  expect(connectionWords(waiting, () => 3100, false)).toBe("Reconnecting");
});

test("after many tries the server is said to be gone", () => {
  expect(connectionWords({ is: "waiting", tries: 9, until: 5000 }, () => 1000, true)).toBe(
    "The server does not answer: your game is safe. Trying again in 4 s.",
  );
});

test("pauses grow to some five seconds and are scattered", () => {
  expect([1, 3, 20].map((tries) => pause(tries, 0.5))).toEqual([100, 1000, 5000]);
  expect(pause(20, 0)).toBeLessThan(pause(20, 0.99));
});
