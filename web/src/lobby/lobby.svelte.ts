// Being at the lobby: the open rooms, and my tickets. One for the whole page, since a wait goes on from page to page.
import type { Channel } from "phoenix";
import * as api from "../api";
import { games } from "../games.svelte";
import { here } from "../here.svelte";
import { line } from "../line.svelte";
import { me } from "../me.svelte";
import { sitDown } from "../room/intent";
import { roomPath } from "../routes";
import { steady } from "../steady";
import type { ChangedRooms, Matched, OpenRooms, Queue, PublicRoom, PublicTicket, Unqueued } from "../wire";
import { changed } from "./rooms";
import { NO_TICKETS, heard, type Message, type Tickets, type Waiting } from "./tickets";

class Lobby {
  tickets: Tickets = $state.raw({ ...NO_TICKETS, waiting: remembered() });
  /** The open rooms; null before they were told. */
  rooms = $state.raw<readonly PublicRoom[] | null>(null);
  #channel: Channel | null = null;
  #wanted = false;

  /** Hear what is told at the lobby, from now on. */
  async attend(): Promise<void> {
    this.#wanted = true;
    const socket = await line.socket();
    if (!this.#wanted || this.#channel) return;
    const lobby = (this.#channel = socket.channel("lobby"));
    lobby.on("rooms", ({ rooms }: OpenRooms) => void (this.rooms = rooms));
    lobby.on("rooms_changed", (told: ChangedRooms) => void (this.rooms = changed(this.rooms ?? [], told)));
    lobby.on("matched", (told: Matched) => this.#hear({ name: "matched", told }));
    lobby.on("unqueued", (told: Unqueued) => this.#hear({ name: "unqueued", told }));
    lobby.join().receive("ok", ({ tickets }: { tickets?: PublicTicket[] }) => this.#list(tickets ?? []));
  }

  /** Hear no more. */
  depart(): void {
    this.#wanted = false;
    this.#channel?.leave();
    this.#channel = null;
    this.rooms = null;
  }

  /** Whoever goes to a room waits nowhere else. */
  goToPlay(): void {
    for (const { ticket } of this.tickets.waiting) void this.giveBack(ticket.id).catch(() => undefined);
    this.depart();
  }

  /** Take a ticket: wait with it, or be off to play at once. Where luck is drawn I bring mine. Refusals are thrown. */
  async take(wanted: Queue): Promise<void> {
    await me.enter();
    try {
      this.#hear({ name: "taken", told: await api.takeTicket({ brings_luck: games.find(wanted.game)?.lucky === true, ...wanted }), at: steady() });
    } catch (why) {
      if (!(why instanceof api.Refusal) || why.code !== "already_queued") throw why;
      this.#list(await api.tickets()); // by another window of mine
    }
  }

  async giveBack(ticket: string): Promise<void> {
    try {
      await api.giveTicketBack(ticket);
      this.#hear({ name: "given back", ticket });
    } catch (why) {
      if (!(why instanceof api.Refusal) || why.code !== "unknown_ticket") throw why;
      this.#list(await api.tickets()); // it was made good at this very moment, or is void
    }
  }

  /** That a ticket has lapsed was read. */
  read(ticket: string): void {
    this.#hear({ name: "read", ticket });
  }

  #list(told: readonly PublicTicket[]): void {
    this.#hear({ name: "listed", told, at: steady() });
  }

  #hear(message: Message): void {
    this.tickets = heard(this.tickets, message);
    const { room } = this.tickets;
    if (room !== null) {
      this.tickets = heard(this.tickets, { name: "gone there" });
      sitDown(room);
      here.go(roomPath(room));
    }
    remember(this.tickets.waiting);
  }
}

// A page that is loaded anew knows with what it waited, should it be matched in between.

const KEY = "waiting";

function remember(waiting: readonly Waiting[]): void {
  try {
    if (waiting.length) sessionStorage.setItem(KEY, JSON.stringify(waiting));
    else sessionStorage.removeItem(KEY);
  } catch {
    // Full, or not allowed: then a reload asks the server alone.
  }
}

function remembered(): readonly Waiting[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one: Waiting) => typeof one?.ticket?.id === "string") : [];
  } catch {
    return [];
  }
}

export const lobby = new Lobby();
