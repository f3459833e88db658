// The tickets with which I wait, and how each message changes that. No socket, no clock, no drawing.
import { t } from "../language/language.svelte";
import type { Matched, PublicTicket, Unqueued } from "../wire";

export interface Waiting {
  readonly ticket: PublicTicket;
  /** When the wait began, by the page's own time, in milliseconds. */
  readonly since: number;
}

/** A ticket that came to nothing, and why. */
export interface Lapsed {
  readonly ticket: PublicTicket;
  readonly reason: string;
}

export interface Tickets {
  readonly waiting: readonly Waiting[];
  readonly lapsed: readonly Lapsed[];
  /** What was matched before its ticket was known here: the room, by the ticket. */
  readonly early: Readonly<Record<string, string>>;
  /** Where I have a seat now: go there. */
  readonly room: string | null;
}

export const NO_TICKETS: Tickets = { waiting: [], lapsed: [], early: {}, room: null };

export type Message =
  | { name: "listed"; told: readonly PublicTicket[]; at: number }
  | { name: "taken"; told: PublicTicket; at: number }
  | { name: "matched"; told: Matched }
  | { name: "unqueued"; told: Unqueued }
  | { name: "given back"; ticket: string }
  | { name: "read"; ticket: string }
  | { name: "gone there" };

/** The tickets after a message. */
export function heard(tickets: Tickets, message: Message): Tickets {
  switch (message.name) {
    case "listed":
      return listed(tickets, message.told, message.at);
    case "taken":
      return taken(tickets, message.told, message.at);
    case "matched":
      return matched(tickets, message.told.ticket, message.told.room);
    case "unqueued":
      return unqueued(tickets, message.told.ticket, message.told.reason);
    case "given back":
      return without(tickets, message.ticket);
    case "read":
      return { ...tickets, lapsed: tickets.lapsed.filter(({ ticket }) => ticket.id !== message.ticket) };
    case "gone there":
      return { ...tickets, room: null };
  }
}

/** The whole truth, after a while without news: what I waited with may have been matched, or have lapsed. */
function listed(tickets: Tickets, told: readonly PublicTicket[], at: number): Tickets {
  const byId = new Map(told.map((ticket) => [ticket.id, ticket]));
  const good = tickets.waiting.map(({ ticket }) => byId.get(ticket.id)).find((ticket) => ticket?.room != null);
  if (good?.room) return { ...NO_TICKETS, room: good.room };
  const lost = tickets.waiting.filter(({ ticket }) => !byId.has(ticket.id));
  return {
    ...tickets,
    waiting: told.filter(({ status }) => status === "waiting").map((ticket) => waits(ticket, at)),
    lapsed: [...tickets.lapsed, ...lost.map(({ ticket }) => ({ ticket, reason: "expired" }))],
  };
}

function taken(tickets: Tickets, ticket: PublicTicket, at: number): Tickets {
  const room = ticket.room ?? tickets.early[ticket.id] ?? null;
  if (room !== null) return { ...NO_TICKETS, room };
  const others = without(tickets, ticket.id);
  const lapsed = others.lapsed.filter((one) => one.ticket.game !== ticket.game); // it is tried again
  return { ...others, lapsed, waiting: [...others.waiting, waits(ticket, at)] };
}

/** Another window of mine may have taken the ticket: then it is that window which goes. */
function matched(tickets: Tickets, id: string, room: string): Tickets {
  if (!tickets.waiting.some(({ ticket }) => ticket.id === id)) {
    return { ...tickets, early: { ...tickets.early, [id]: room } };
  }
  return { ...NO_TICKETS, room }; // whoever plays waits nowhere else
}

function unqueued(tickets: Tickets, id: string, reason: string): Tickets {
  const found = tickets.waiting.find(({ ticket }) => ticket.id === id);
  const rest = without(tickets, id);
  if (!found || reason === "matched") return rest;
  return { ...rest, lapsed: [...rest.lapsed, { ticket: found.ticket, reason }] };
}

function without(tickets: Tickets, id: string): Tickets {
  return { ...tickets, waiting: tickets.waiting.filter(({ ticket }) => ticket.id !== id) };
}

function waits(ticket: PublicTicket, at: number): Waiting {
  return { ticket, since: at - ticket.waited * 1000 };
}

/** Whether somebody waits for this game already, in this mode and with nothing set up. */
export function isWaiting({ waiting }: Tickets, game: string, mode: PublicTicket["mode"]): boolean {
  return waiting.some(({ ticket }) => ticket.game === game && ticket.mode === mode);
}

/** What one waits for, in a sentence. */
export function wish(ticket: PublicTicket, title: string): string {
  if (ticket.mode === "ranked") return t("Looking for somebody of about your strength: {game}, ranked", title);
  return t("Looking for somebody to play with: {game}", title);
}

/** Why one does not wait any more, in a sentence. */
export function lapse({ reason }: Lapsed, title: string): string {
  if (reason === "expired") return t("You do not wait for {game} any more: the server had not heard of you for a while.", title);
  return t("You do not wait for {game} any more: no room could be made of it.", title);
}
