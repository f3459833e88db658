// Who I am, as a browser with several tabs knows it: they share a cookie, and the name that was chosen.
import { beforeEach, expect, it, vi } from "vitest";

const GUESTS = ["g1", "g2", "g3", "g4"];

/** A server that makes a guest of whoever shows no cookie, and the browser before it. */
let cookie: string | null;
let keepsCookies: boolean;
let players: Map<string, { id: string; name: string; account: boolean }>;
let kept: Map<string, string>;

vi.stubGlobal("localStorage", {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
});
vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
  const id = cookie ?? GUESTS.find((one) => !players.has(one))!;
  const before = players.get(id) ?? { id, name: `Guest ${id}`, account: false };
  const now = { ...before, name: (JSON.parse(body) as { name?: string }).name ?? before.name };
  players.set(id, now);
  if (keepsCookies) cookie = id;
  return { ok: true, json: async () => now };
});

/** The page in another tab of the same browser. */
async function tab() {
  vi.resetModules();
  return (await import("../src/me.svelte")).me;
}

beforeEach(() => {
  cookie = null;
  keepsCookies = true;
  players = new Map();
  kept = new Map();
});

it("refuses to enter in a browser that keeps no cookie, with a name or without, and however often", async () => {
  keepsCookies = false;
  const me = await tab();
  for (const typed of ["", "Ann"]) await expect(me.enter(typed)).rejects.toMatchObject({ code: "no_cookies" });
  expect(me.named).toBe(false);
});

it("becomes whom another tab has signed in, and gives them no name that was typed here", async () => {
  const me = await tab();
  await me.known();
  me.changed = vi.fn();
  players.set("ben", { id: "ben", name: "Ben", account: true });
  cookie = "ben";
  expect(await me.enter("Ann")).toBe(false);
  expect([me.player?.id, me.ownName]).toEqual(["ben", "Ben"]);
  expect(me.changed).toHaveBeenCalledOnce();
  expect(players.get("ben")?.name).toBe("Ben");
});

it("is one guest in two tabs that were opened at once, and takes the name that was typed", async () => {
  const [one, other] = [await tab(), await tab()];
  await one.known();
  cookie = null; // the other tab had asked before the answer was there
  await other.known();
  expect(await one.enter("Ann")).toBe(false);
  expect([one.player?.id, one.ownName]).toEqual([other.player?.id, "Ann"]);
});

it("keeps a name that was chosen, and no guest who comes later has chosen one", async () => {
  const me = await tab();
  expect(await me.enter("Ann")).toBe(true);
  const anew = await tab();
  await anew.known();
  expect(anew.ownName).toBe("Ann");
  cookie = null; // signed out, or deleted
  const later = await tab();
  await later.known();
  expect([later.named, later.ownName]).toEqual([false, ""]);
});
