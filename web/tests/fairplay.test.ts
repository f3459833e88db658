// Checking the luck of a game: the numbers are those of the server's own Chance.
import { expect, test } from "vitest";
import { check, periods, proven, verdictOf } from "../src/fairplay";
import { luckOf, noteLuck } from "../src/luck";
import type { HistoryStep, Result } from "../src/wire";

/** Of step 4, by the server's own code, with sixteen sevens added to the seed. */
const ADDED_DRAWS: [number, number][] = [[6, 5], [6, 4]];

/** Of the seed of these results. */
const HASH = "72cd6e8422c407fb6d098690f1130b7ded7ec2f7f5e1d30bd9d521f015363793";

const result = (seed: string, next: string, added: Result["added"] = []): Result => ({ outcome: {}, seed, seed_hash: next, ...(added.length ? { added } : {}) });

const steps = (draws: [number, number][], added: Result["added"] = []): HistoryStep[] => [
  { seq: 0, at: 0 },
  { seq: 4, at: 0, draws },
  { seq: 5, at: 0, result: result("01".repeat(32), "ff", added) },
];

test("two dice of step 4 are those that the design page shows", async () => {
  const checked = await check(steps([[6, 4], [6, 1]]));
  expect(checked).toEqual({ draws: 2, steps: 1, fault: null });
  expect(verdictOf(checked)).toBe("All 2 draws are what the seed says.");
});

test("a wrong draw in a history is found", async () => {
  const checked = await check(steps([[6, 4], [6, 2]]));
  expect(checked.fault).toEqual({ is: "draw", seq: 4, told: 2, right: 1 });
  expect(verdictOf(checked)).toBe("Step 4 is wrong: it drew 2, and the seed says 1.");
});

test("what players added changes every draw", async () => {
  const added = [{ player: "ann", luck: "07".repeat(16) }];
  expect((await check(steps([[6, 4], [6, 1]], added))).fault?.is).toBe("draw");
  expect((await check(steps(ADDED_DRAWS, added))).fault).toBe(null);
});

test("a seed is the one whose hash was published, by what I was told before and by the game before", async () => {
  expect((await check(steps([[6, 4]]), HASH)).fault).toBe(null);
  expect((await check(steps([[6, 4]]), "ff")).fault).toBe(null); // I came when the game was over
  expect((await check(steps([[6, 4]]), "00")).fault?.is).toBe("seed");
  const two = [...steps([[6, 4]]), { seq: 9, at: 0, result: result("02".repeat(32), "ee") }];
  expect((await check(two)).fault).toEqual({ is: "seed", seq: 9 });
});

test("what was added in my name is what I sent, as far as this browser remembers", async () => {
  const added = [{ player: "ann", luck: "07".repeat(16) }];
  const own = (luck: string | undefined, player = "ann") => ({ player, luckOf: (seed: string) => (seed === HASH ? luck : undefined) });
  const look = async (who: ReturnType<typeof own>) => (await check(steps(ADDED_DRAWS, added), null, who)).fault;
  expect(await look(own("07".repeat(16)))).toBe(null);
  expect(await look(own(undefined))).toBe(null); // on another device, say
  expect(await look(own("08".repeat(16), "bob"))).toBe(null); // it was left out, as "what is proven" says
  const replaced = await check(steps(ADDED_DRAWS, added), null, own("08".repeat(16)));
  expect(replaced.fault).toEqual({ is: "added", seq: 5 });
  expect(verdictOf(replaced)).toContain("did not come from this browser");
});

test("what a browser has added is remembered by seed and player, the newest of it", () => {
  noteLuck("seed", "ann", "1");
  noteLuck("seed", "ann", "2");
  noteLuck("seed", "bob", "3");
  expect([luckOf("seed", "ann"), luckOf("seed", "bob"), luckOf("other", "ann")]).toEqual(["1", "3", undefined]);
  for (let n = 0; n < 100; n++) noteLuck(`seed ${n}`, "ann", "4");
  expect([luckOf("seed", "ann"), luckOf("seed 99", "ann")]).toEqual([undefined, "4"]);
});

test("a history has a period for each seed that was shown", () => {
  const two = [...steps([]), { seq: 6, at: 0, result: null }, { seq: 9, at: 0, result: result("02", "ee") }];
  expect(periods(two).map(({ first, last }) => [first, last])).toEqual([[0, 5], [6, 9]]);
});

test("what is proven depends on who added random bytes", () => {
  const seats = [{ id: "ann", name: "Ann" }, { id: "bob", name: "Bob" }];
  const ann = { player: "ann", luck: "" };
  expect(proven([], seats)).toContain("No player added random bytes");
  expect(proven([ann], seats)).toContain("One player added none: Bob.");
  expect(proven([ann], [...seats, { id: "cat", name: "Cat" }])).toContain("These players added none: Bob and Cat.");
  expect(proven([ann, { player: "bob", luck: "" }], seats)).toContain("Nobody chose this luck");
  expect(proven([ann], [seats[0]!, { id: "bot:hard", name: "Hard bot", bot: true }])).toContain("Nobody chose this luck");
});
