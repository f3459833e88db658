import { expect, test } from "vitest";
import { NOWHERE, askers, headline, heard, isHere, presentAfter, spectators, talk, verdict, type Message, type RoomState } from "../src/room/state";
import { toldApart } from "../src/players";
import type { Outcome, PublicRoom, Result } from "../src/wire";

const ANN = { id: "ann", name: "Ann" };
const BOB = { id: "bob", name: "Bob" };
const hear = (messages: Message[], from: RoomState = NOWHERE) => messages.reduce(heard, from);
const joined: Message = { name: "joined", told: { player: "ann", game: "tictactoe", seq: 2, seat: 0 } };
const sync = (seq: number, more: object = {}): Message => ({ name: "sync", told: { seq, scene: { status: "?" }, ...more }, at: 50 });
const update = (seq: number, more: object = {}): Message => ({ name: "update", told: { seq, ...more } });
const sheet = (seats: PublicRoom["seats"]) => ({ name: "sheet", told: { seats, ended: null } as PublicRoom }) as Message;
const line = (seq: number, text: string): Message => ({
  name: "chat", told: { seq, from: "bob", name: "Bob", text, at: 0 },
});

test("a patch changes the scene that was told before it", () => {
  const room = hear([joined, sync(2), update(3, { patch: { set: { status: "Your turn" } } })]);
  expect([room.seq, room.scene!.status]).toEqual([3, "Your turn"]);
});

test("an empty update counts the step and changes nothing", () => {
  const before = hear([joined, sync(2)]);
  const after = heard(before, update(3));
  expect(after.seq).toBe(3);
  expect(after.scene).toBe(before.scene);
});

test("a number that is missing is noticed, and nothing of that step is drawn", () => {
  const room = hear([joined, sync(2), update(4, { patch: { set: { status: "wrong" } } })]);
  expect([room.missed, room.seq, room.scene!.status]).toEqual([true, 2, "?"]);
  expect(hear([joined, sync(4)], room).missed).toBe(false);
});

test("a sync within a step and the update that ends it have the same number", () => {
  const room = hear([joined, sync(2), sync(3), update(3, { result: null })]);
  expect([room.seq, room.missed]).toEqual([3, false]);
});

test("an outcome comes with its step and goes with a rematch", () => {
  const result = { outcome: { won: ["ann"] }, seed: "00", seed_hash: "11" };
  const over = hear([joined, sync(2), update(3, { result })]);
  expect(over.result).toEqual(result);
  expect(heard(over, update(4, { result: null })).result).toBeNull();
  expect(heard(over, sync(4)).result).toBeNull();
});

test("the room's clock is known from a sync after a join, and kept when another sync does not tell it", () => {
  const room = hear([joined, sync(2, { now: 80 })]);
  expect(room.skew).toBe(30);
  expect(heard(room, sync(3)).skew).toBe(30);
});

test("what was said is kept in order and once, also when it is told again", () => {
  const room = hear([joined, sync(2), line(3, "hello"), line(4, "there"), line(3, "hello")]);
  expect(room.said.map(({ text }) => text)).toEqual(["hello", "there"]);
});

test("a room of the same name that begins anew does not show the talk of the old one", () => {
  const old: RoomState = { ...NOWHERE, seq: 40, said: hear([line(3, "old")]).said };
  expect(hear([joined, sync(2, { reset: true })], old).said).toEqual([]);
  expect(hear([joined, sync(41, { reset: true })], old).said).toHaveLength(1);
});

test("who is here comes and goes tab by tab", () => {
  const tab = (ref: string) => ({ metas: [{ phx_ref: ref, name: "Ann", seat: 0 }] });
  const two = presentAfter({ ann: tab("1") }, { joins: { ann: tab("2") }, leaves: {} });
  expect(two["ann"]!.metas).toHaveLength(2);
  const one = presentAfter(two, { joins: {}, leaves: { ann: tab("1") } });
  expect(one["ann"]!.metas).toEqual(tab("2").metas);
  expect(presentAfter(one, { joins: {}, leaves: { ann: tab("2") } })).toEqual({});
});

test("spectators are one number, the newest", () => {
  const count = (ref: string, n: number) => ({ spectators: { metas: [{ phx_ref: ref, count: n }] } });
  const room = hear([{ name: "presence_state", told: count("a", 1) },
                     { name: "presence_diff", told: { joins: count("b", 3), leaves: count("a", 1) } }]);
  expect(spectators(room)).toBe(3);
});

test("whoever comes to a seat is known by name, and stays seated while away", () => {
  const bob = { bob: { metas: [{ phx_ref: "1", name: "Bob", seat: 1 }] } };
  const here = hear([joined, sheet([ANN, null]), { name: "presence_state", told: {} },
                     { name: "presence_diff", told: { joins: bob, leaves: {} } }]);
  expect(here.seats).toEqual([ANN, BOB]);
  const away = heard(here, { name: "presence_diff", told: { joins: {}, leaves: bob } });
  expect([away.seats[1], isHere(away, BOB)]).toEqual([BOB, false]);
});

test("after a rematch I sit where the room says", () => {
  expect(hear([joined, sheet([ANN, BOB]), sheet([BOB, ANN])]).seat).toBe(1);
});

test("whoever asks for a rematch is known to the others", () => {
  const bob = (ref: string, more: object) => ({ bob: { metas: [{ phx_ref: ref, name: "Bob", seat: 1, ...more }] } });
  const before = hear([joined, sheet([ANN, BOB]), { name: "presence_state", told: bob("1", {}) }]);
  expect(askers(before)).toEqual([]);
  const told = { joins: bob("2", { again: true }), leaves: bob("1", {}) };
  expect(askers(heard(before, { name: "presence_diff", told }))).toEqual([BOB]);
});

test("how it ended is said from my side", () => {
  const outcome = { won: ["ann"], lost: ["bob"], why: "three in a row" };
  expect(verdict(outcome, [ANN, BOB], "ann")).toBe("You win: three in a row");
  expect(verdict(outcome, [ANN, BOB], "bob")).toBe("Ann wins: three in a row");
  expect(verdict(outcome, [ANN, BOB], null)).toBe("Ann wins: three in a row");
  expect(verdict({ won: ["ann", "bob"] }, [ANN, BOB], "ann")).toBe("You and Bob win");
  expect(verdict({ drew: ["ann", "bob"], why: "the board is full" }, [ANN, BOB], "ann")).toBe("A draw: the board is full");
  expect(verdict({ lost: ["ann"], why: "a mine" }, [ANN], "ann")).toBe("You lose: a mine");
  expect(verdict({ lost: ["ann"] }, [ANN, BOB], null)).toBe("Ann lost");
  expect(verdict({ lost: ["ann", "bob"] }, [ANN, BOB], null)).toBe("Ann and Bob lost");
});

test("of a game that the room has ended one reads by whose doing, from every seat and from beside the table", () => {
  const cleo = { id: "cleo", name: "Cleo" };
  const from = (outcome: Outcome, how: Result["verdict"]) => ["ann", "bob", null].map((me) => verdict(outcome, [ANN, BOB, cleo], me, how));
  expect(from({ won: ["ann"], lost: ["bob"], why: "the other side resigned" }, "resigned")).toEqual([
    "You win: the other side resigned", "You resigned: Ann wins", "Bob resigned: Ann wins",
  ]);
  expect(from({ won: ["ann"], lost: ["bob"], why: "out of time" }, "flagged")).toEqual([
    "You win: Bob ran out of time", "You ran out of time: Ann wins", "Bob ran out of time: Ann wins",
  ]);
  expect(from({ won: ["ann"], lost: ["bob"], why: "away too long" }, "flagged")).toEqual([
    "You win: Bob was away too long", "You were away too long: Ann wins", "Bob was away too long: Ann wins",
  ]);
  expect(from({ won: ["ann", "cleo"], lost: ["bob"], why: "the other side resigned" }, "resigned")).toEqual([
    "You and Cleo win: Bob resigned", "You resigned: Ann and Cleo win", "Bob resigned: Ann and Cleo win",
  ]);
  expect(from({ drew: ["ann", "bob"], why: "both sides agreed" }, "agreed")).toEqual(Array(3).fill("A draw: both sides agreed"));
  expect(verdict({ lost: ["ann"], why: "the other side resigned" }, [ANN], "ann", "resigned")).toBe("You resigned");
});

test("somebody whose name is not known may begin a sentence, or stand in it", () => {
  expect(verdict({ won: ["eve"] }, [ANN], null)).toBe("Somebody wins");
  expect(verdict({ won: ["ann", "eve"] }, [ANN], null)).toBe("Ann and somebody win");
});

test("a game that has its own words for lost time keeps them", () => {
  const outcome = { won: ["ann"], lost: ["bob"], why: "2 \u2013 0 (out of time)" };
  expect(verdict(outcome, [ANN, BOB], "ann", "flagged")).toBe("You win: 2 \u2013 0 (out of time)");
});

test("whoever looks at an ended game reads one sentence, whatever its scene says", () => {
  const result = { outcome: { won: ["ann"], lost: ["bob"], why: "four in a row" }, seed: "", seed_hash: "" };
  const bob: Message = { name: "joined", told: { player: "bob", game: "connect_four", seq: 2, seat: 1 } };
  const ended = hear([bob, sync(2, { scene: { status: "You lose" }, result })]);
  expect(headline(ended, [ANN, BOB])).toBe("Ann wins: four in a row");
});

test("as long as it goes on, the game itself says what to do", () => {
  expect(headline(hear([joined, sync(2, { scene: { status: "Waiting for {1}" } })]), [ANN, BOB])).toBe("Waiting for Bob");
});

test("a room that closed without a result says why", () => {
  const room = hear([joined, sync(2), { name: "shutdown", told: { reason: "nobody_here" } }]);
  expect(headline(room, [ANN, null])).toBe("This room has closed: everybody had left.");
  const alone = hear([joined, sync(2), { name: "shutdown", told: { reason: "nobody_came" } }]);
  expect(headline(alone, [ANN, BOB])).toBe("Not everybody came, so there is no game here.");
});

test("rules that do not load are known until a sync of the room says nothing of them", () => {
  const broken = hear([joined, sync(2, { now: 9, fault: "four.py, line 3: invalid syntax" })]);
  expect(broken.fault).toBe("four.py, line 3: invalid syntax");
  expect(heard(broken, sync(2)).fault).toBe(broken.fault); // the game's own
  expect(heard(broken, sync(2, { now: 9 })).fault).toBeNull();
});

test("a room that closes says why", () => {
  expect(heard(NOWHERE, { name: "shutdown", told: { reason: "nobody_here" } }).ended).toBe("nobody_here");
});

test("a bot that takes a seat is known to be one from the moment it is here", () => {
  const metas = [{ phx_ref: "1", name: "Easy bot", seat: 1, bot: true }];
  const room = hear([joined, sheet([ANN, null]), { name: "presence_diff", told: { joins: { "bot:easy": { metas } }, leaves: {} } }]);
  expect(room.seats).toEqual([ANN, { id: "bot:easy", name: "Easy bot", bot: true }]);
});

test("whoever leaves the table is named, and so is whoever comes instead", () => {
  const eve = { id: "eve", name: "Eve" };
  const alone = hear([joined, sheet([ANN, BOB]), sync(2), line(3, "bye"), update(3), update(4), sheet([ANN, null])]);
  expect([alone.left, talk(alone).map(({ text }) => text)]).toEqual(["Bob", ["bye", "Bob has left the table"]]);
  const again = heard(alone, sheet([ANN, eve]));
  expect([again.left, talk(again).at(-1)!.text]).toEqual([null, "Eve sits down"]);
});

test("nothing is told of those who sat there when I came, nor of me", () => {
  expect(hear([joined, sheet([ANN, BOB])]).notes).toEqual([]);
  expect(hear([joined, sheet([null, BOB]), sheet([ANN, BOB])]).notes).toEqual([]);
});

test("two people of one name are told apart", () => {
  const names = (...all: (string | null)[]) =>
    toldApart(all.map((name, n) => (name === null ? null : { id: `${n}`, name }))).map((seat) => seat?.name ?? null);
  expect(names("Ann", "ann", null, "Bob", "Ann")).toEqual(["Ann", "ann 2", null, "Bob", "Ann 3"]);
  expect(names("Ann", "Ann 2", "Ann")).toEqual(["Ann", "Ann 2", "Ann 3"]);
});
