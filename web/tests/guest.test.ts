// Whom a browser leaves behind when it is signed in: a guest whom somebody would miss.
import { expect, it, vi } from "vitest";

const GUEST = { id: "g1", name: "Guest 1", account: false };
let rooms: { status: string }[];

vi.stubGlobal("fetch", async (path: string) => {
  const answers: Record<string, unknown> = { "/api/players": GUEST, "/api/players/g1": { results: [], standings: [] }, "/api/players/me/rooms": rooms };
  return { ok: true, json: async () => answers[path] };
});
const { leftBehind } = await import("../src/account/guest");

it("has nothing to lose without a name, a game or a result", async () => {
  rooms = [{ status: "over" }];
  expect(await leftBehind()).toBe("");
});

it("would lose the game that is still going on", async () => {
  rooms = [{ status: "over" }, { status: "playing" }];
  expect(await leftBehind()).toContain("Guest 1");
});
