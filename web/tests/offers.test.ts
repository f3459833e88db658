// What players offer each other, in words.
import { expect, test } from "vitest";
import type { FullControl } from "../src/board/things";
import { menuOf, offerNews, wordOf } from "../src/room/offers";

const SEATS = [{ id: "ann", name: "Ann" }, { id: "bob", name: "Bob" }];
const ALL = ["resign", "draw", "takeback", "pause"];
const plain = { clock: false, ranked: false, moved: true };

const menu = (...of: Parameters<typeof menuOf>) => menuOf(...of).map(({ text }) => text);

test("an offer is answered by the one who did not make it", () => {
  const offers = { open: { what: "draw", by: "ann" } } as const;
  expect(wordOf(offers, SEATS, "bob")).toEqual({ text: "Ann offers a draw.", reply: "answer", what: "draw" });
  expect(wordOf(offers, SEATS, "ann")).toEqual({ text: "You have offered a draw.", reply: "withdraw", what: "draw" });
  expect(wordOf(offers, SEATS, "eve")).toEqual({ text: "Ann offers a draw.", reply: null, what: "draw" });
  expect(wordOf(offers, SEATS, null)?.reply).toBe(null);
});

test("whoever has agreed waits for the others", () => {
  expect(wordOf({ open: { what: "draw", by: "ann", agreed: ["bob"] } }, SEATS, "bob")?.reply).toBe(null);
});

test("only the one who was declined reads of it", () => {
  const offers = { declined: [{ what: "draw", by: "ann" }] } as const;
  expect(wordOf({ declined: [...offers.declined] }, SEATS, "ann")?.text).toBe("Your draw was declined.");
  expect(wordOf({ declined: [...offers.declined] }, SEATS, "bob")).toBe(null);
});

test("in a pause those who sit can ask to go on", () => {
  expect(wordOf({ paused: 7 }, SEATS, "bob")?.reply).toBe("resume");
  expect(wordOf({ paused: 7 }, SEATS, "eve")?.reply).toBe(null);
});

test("the menu has what the game allows and what makes sense now", () => {
  expect(menu(ALL, {}, [], "ann", { ...plain, clock: true })).toEqual(["Offer a draw", "Take my move back", "Pause", "Resign"]);
  expect(menu(ALL, {}, [], "ann", plain)).toEqual(["Offer a draw", "Take my move back", "Resign"]);
  expect(menu(ALL, { open: { what: "draw", by: "bob" } }, [], "ann", plain)).toEqual(["Resign"]);
  expect(menu(ALL, { declined: [{ what: "draw", by: "ann" }] }, [], "ann", plain)).toEqual(["Take my move back", "Resign"]);
  expect(menu(ALL, {}, [], "ann", { ...plain, moved: false })).toEqual(["Offer a draw", "Resign"]);
  expect(menu([], {}, [], "ann", plain)).toEqual([]);
});

test("a game's own resigning stands in the menu, too", () => {
  const own = { id: "resign_game", text: "Resign game", aside: true } as FullControl;
  expect(menu(["pause"], {}, [own], "ann", plain)).toEqual(["Resign game"]);
});

test("resigning says what it costs", () => {
  const cost = (ranked: boolean) => menuOf(["resign"], {}, [], "ann", { ...plain, ranked })[0]?.confirm;
  expect(cost(false)).toBe("Resign? You lose this game.");
  expect(cost(true)).toBe("Resign? You lose this game, and it counts for your rating.");
});

test("what was offered and what became of it is told in the chat", () => {
  const open = { what: "draw", by: "ann" } as const;
  expect(offerNews({}, { open }, SEATS)).toEqual(["Ann offers a draw"]);
  expect(offerNews({ open }, { declined: [open] }, SEATS)).toEqual(["The draw that Ann offered was declined"]);
  expect(offerNews({ open }, {}, SEATS)).toEqual([]);
  expect(offerNews({}, { paused: 3 }, SEATS)).toEqual(["The game is paused"]);
  expect(offerNews({ paused: 3 }, {}, SEATS)).toEqual(["The game goes on"]);
});
