// What a game's own board page and the room say to each other.
import { describe, expect, test } from "vitest";
import { Budget, MAX_EVENT, addressOf, eventIn, gameState } from "../src/board/page";
import { things } from "../src/board/things";

describe("what a board page is told", () => {
  const page = { version: "a1", view: { left: 3 }, legal: [{ type: "take" }] };

  test("is the view and the legal events", () => {
    expect(gameState(page, true)).toEqual({ view: { left: 3 }, legal: [{ type: "take" }] });
  });

  test("has no legal events where nothing can be done", () => {
    expect(gameState(page, false).legal).toEqual([]);
  });

  test("says null where the game does not say what is legal, and an empty list where nothing is", () => {
    expect(gameState({ version: "a1", legal: null }, true)).toEqual({ view: null, legal: null });
    expect(gameState({ version: "a1" }, true)).toEqual({ view: null, legal: [] });
  });

  test("comes from another address when the page was saved again", () => {
    expect(addressOf("sticks", page)).toBe("/boards/sticks/index.html?v=a1");
  });

  test("is nothing in a scene without one", () => {
    expect(things({}).page).toBeNull();
  });
});

describe("what a board page says", () => {
  test("is an event", () => {
    expect(eventIn({ type: "event", event: { type: "take", count: 1 } })).toEqual({ type: "take", count: 1 });
  });

  test.each([null, "event", 1, {}, { type: "state" }, { type: "event" }, { type: "event", event: 1n }, { type: "event", event: "x".repeat(MAX_EVENT) }])("is none: %o", (message) => {
    expect(eventIn(message)).toBeUndefined();
  });

  test("is none if it goes in a circle", () => {
    const event: { self?: unknown } = {};
    event.self = event;
    expect(eventIn({ type: "event", event })).toBeUndefined();
  });

  test("is heard so often at once, and so often a second", () => {
    const budget = new Budget(3, 2);
    expect([0, 0, 0, 0].map((at) => budget.take(at))).toEqual([true, true, true, false]);
    expect([1, 1, 1].map((at) => budget.take(at))).toEqual([true, true, false]);
  });
});
