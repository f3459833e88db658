import { expect, test } from "vitest";
import { NO_TICKETS, heard, isWaiting, lapse, wish, type Message, type Tickets } from "../src/lobby/tickets";
import type { PublicTicket } from "../src/wire";

const ticket = (id: string, more: Partial<PublicTicket> = {}): PublicTicket => ({
  id, game: "tictactoe", config: {}, mode: "normal", status: "waiting", room: null, waited: 0, ...more,
});
const good = (id: string, room: string) => ticket(id, { status: "matched", room });
const hear = (messages: Message[], from: Tickets = NO_TICKETS) => messages.reduce(heard, from);
const taken = (told: PublicTicket, at = 1000): Message => ({ name: "taken", told, at });
const listed = (told: PublicTicket[], at = 1000): Message => ({ name: "listed", told, at });
const matched = (id: string, room: string): Message => ({ name: "matched", told: { ticket: id, room, game: "tictactoe" } });
const unqueued = (id: string, reason: string): Message => ({ name: "unqueued", told: { ticket: id, reason } });
const ids = ({ waiting }: Tickets) => waiting.map((one) => one.ticket.id);

test("whoever takes a ticket waits with it", () => {
  const tickets = hear([taken(ticket("a"))]);
  expect([ids(tickets), tickets.room]).toEqual([["a"], null]);
  expect(isWaiting(tickets, "tictactoe", "normal")).toBe(true);
  expect(isWaiting(tickets, "tictactoe", "ranked")).toBe(false);
});

test("a ticket that is made good at once leads to its room", () => {
  expect(hear([taken(good("a", "ROOM"))]).room).toBe("ROOM");
});

test("whoever is matched goes to the room and waits nowhere else", () => {
  const tickets = hear([taken(ticket("a")), taken(ticket("b", { mode: "ranked" })), matched("b", "ROOM")]);
  expect([ids(tickets), tickets.room]).toEqual([[], "ROOM"]);
});

test("news of a match may be quicker than the answer to the one who asked", () => {
  expect(hear([matched("a", "ROOM"), taken(ticket("a"))]).room).toBe("ROOM");
});

test("a ticket that another window took does not carry this one away", () => {
  const tickets = hear([taken(ticket("a")), matched("of another window", "ROOM")]);
  expect([ids(tickets), tickets.room]).toEqual([["a"], null]);
});

test("somebody who has gone to the room is not sent there again", () => {
  expect(hear([taken(good("a", "ROOM")), { name: "gone there" }]).room).toBeNull();
});

test("a wait goes on when the page is loaded anew, and is as long as the server says", () => {
  const tickets = hear([listed([ticket("a", { waited: 12 })], 50_000)]);
  expect(tickets.waiting).toMatchObject([{ ticket: { id: "a" }, since: 38_000 }]);
});

test("a match that was missed is found in the list", () => {
  expect(hear([taken(ticket("a")), listed([good("a", "ROOM")])]).room).toBe("ROOM");
});

test("a match of an hour ago carries nobody away", () => {
  expect(hear([listed([good("old", "ROOM")])])).toEqual(NO_TICKETS);
});

test("a ticket that is not in the list any more has lapsed, and that can be read once", () => {
  const tickets = hear([taken(ticket("a")), listed([])]);
  expect([ids(tickets), tickets.lapsed.map(({ reason }) => reason)]).toEqual([[], ["expired"]]);
  expect(hear([{ name: "read", ticket: "a" }], tickets)).toEqual(NO_TICKETS);
});

test("a ticket that the server voids says why; one that a match elsewhere voids says nothing", () => {
  const two = hear([taken(ticket("a")), taken(ticket("b", { game: "stratego" }))]);
  expect(hear([unqueued("a", "expired")], two).lapsed).toMatchObject([{ ticket: { id: "a" }, reason: "expired" }]);
  expect(hear([unqueued("b", "matched")], two).lapsed).toEqual([]);
  expect(ids(hear([unqueued("a", "expired")], two))).toEqual(["b"]);
});

test("whoever waits for the same again does not read of the last time", () => {
  const tickets = hear([taken(ticket("a")), unqueued("a", "expired"), taken(ticket("b"))]);
  expect([ids(tickets), tickets.lapsed]).toEqual([["b"], []]);
});

test("a ticket that was given back is waited with no more", () => {
  expect(hear([taken(ticket("a")), { name: "given back", ticket: "a" }])).toEqual(NO_TICKETS);
});

test("what one waits for, and why not any more, are sentences", () => {
  expect(wish(ticket("a"), "Stratego")).toBe("Looking for somebody to play with: Stratego");
  expect(wish(ticket("a", { mode: "ranked" }), "Stratego")).toMatch(/ranked$/);
  expect(lapse({ ticket: ticket("a"), reason: "expired" }, "Stratego")).toMatch(/had not heard of you/);
  expect(lapse({ ticket: ticket("a"), reason: "game_error" }, "Stratego")).toMatch(/no room could be made/);
});
