// Being in a room: the channel, what it says, and what is asked of it.
import type { Channel } from "phoenix";
import * as api from "../api";
import { t } from "../language/language.svelte";
import { line } from "../line.svelte";
import { noteLuck } from "../luck";
import type { Problem } from "../problem";
import { now } from "../ticking.svelte";
import { leaps, steady } from "../steady";
import { passing } from "../storage";
import type { JoinAnswer, PublicRoom } from "../wire";
import { NOWHERE, heard, type Message, type RoomState } from "./state";

/** Refusals of a join that waiting does not heal. */
const FINAL = new Set(["unknown_room", "room_ended", "game_full", "no_spectators", "seat_kept", "rules_changed", "room_damaged", "malformed"]);

/** What can be asked of a room. */
export type Wish = "game_event" | "chat" | "leave" | "rematch" | "offer" | "answer" | "resign" | "claim" | "luck";

/** Milliseconds from one look to the next whether the room's time must be asked anew. */
const EVERY = 1000;

interface Asked {
  name: string;
  payload: object;
  settle: (problem: Problem | null) => void;
}

export class Visit {
  /** The room as it was told. */
  state: RoomState = $state.raw(NOWHERE);
  /** Why the room could not be entered. */
  refused: Problem | null = $state.raw(null);
  joined = $state(false);
  /** Something was asked that has no answer yet. */
  asking = $state(false);
  #channel: Channel | null = null;
  #asked = new Map<string, Asked>();
  #gone = false;
  /** The hash of the seed to which I have added. */
  #luckyWith: string | null = null;
  /** That of the seed in use when I came. */
  #seed: string;
  #bytes = newId();
  #entered: () => void = () => undefined;
  #looking = false;
  #stale = false;
  #watch: ReturnType<typeof setInterval>;

  constructor(
    readonly id: string,
    readonly watching: boolean,
    { seats, coming, seed_hash }: Pick<PublicRoom, "seats" | "coming" | "seed_hash">,
    /** I will take a seat in a game that draws by chance. */
    readonly bringsLuck: boolean,
  ) {
    this.state = { ...NOWHERE, seats, coming, ...remembered(id) };
    this.#seed = seed_hash;
    addEventListener("pagehide", this.#remember);
    const leapt = leaps();
    this.#watch = setInterval(() => leapt() && line.connection.is === "connected" && this.#rejoin(), EVERY);
    void this.#enter();
  }

  /** The seconds since 1970 by the room's clock; every message was under way for a while. */
  now(): number {
    return now() / 1000 + this.state.skew + line.delay / 1000;
  }

  /** Ask for something; null when it was done, or why not. It is asked once, whatever the line does meanwhile. */
  ask(name: Wish, payload: object = {}): Promise<Problem | null> {
    const id = newId();
    const answered = line.expect();
    return new Promise((resolve) => {
      const settle = (problem: Problem | null) => {
        answered();
        this.#asked.delete(id);
        this.asking = this.#asked.size > 0;
        resolve(problem);
      };
      this.asking = true;
      this.#asked.set(id, { name, payload: { ...payload, id }, settle });
      this.#push(id);
    });
  }

  /** Add random bytes to the seed in use, once; where it is too late for that, nobody needs to hear of it. */
  addLuck(): void {
    const seed = this.state.result?.seed_hash ?? this.#seed;
    const player = this.state.player;
    if (player === null || this.#luckyWith === seed || (this.#luckyWith !== null && !this.state.result)) return;
    this.#luckyWith = seed;
    const luck = newId();
    void this.ask("luck", { luck }).then((problem) => problem ?? noteLuck(seed, player, luck));
  }

  /** Whoever takes a seat brings the bytes along: a game may draw as soon as all sit. */
  #luckToBring(): { luck?: string } {
    if (!this.bringsLuck || this.joined) return {};
    this.#luckyWith = this.#seed;
    return { luck: this.#bytes };
  }

  /** Stop hearing the room. */
  close(): void {
    this.#gone = true;
    clearInterval(this.#watch);
    this.#remember();
    removeEventListener("pagehide", this.#remember);
    this.#entered();
    this.#channel?.leave();
    for (const { settle } of this.#asked.values()) settle({ code: "left", message: t("You have left this page.") });
  }

  /** Look at the plate on the door: who sits where. What changes while one looks is looked at once more. */
  async look(): Promise<void> {
    this.#stale = true;
    if (this.#looking) return;
    this.#looking = true;
    while (this.#stale && !this.#gone) {
      this.#stale = false;
      try {
        this.#hear({ name: "sheet", told: await api.room(this.id) });
      } catch {
        // The socket tells what matters; this only names empty seats.
      }
    }
    this.#looking = false;
  }

  async #enter(): Promise<void> {
    const socket = await line.socket();
    if (this.#gone) return;
    const channel = (this.#channel = socket.channel(`game:${this.id}`, () => ({
      format: "scene",
      ...(this.watching ? { spectate: true } : this.#luckToBring()),
      ...(this.state.seq === null ? {} : { since: this.state.seq }),
    })));
    for (const name of ["chat", "presence_state", "presence_diff", "shutdown"] as const) {
      channel.on(name, (told) => this.#hear({ name, told } as Message));
    }
    channel.on("update", (told) => this.#hear({ name: "update", told, at: steady() / 1000 }));
    channel.on("sync", (told) => this.#hear({ name: "sync", told, at: steady() / 1000 }));
    this.#entered = line.expect();
    channel
      .join()
      .receive("ok", (told: JoinAnswer) => (this.#entered(), this.#arrive(told)))
      .receive("error", (problem: Problem) => (this.#entered(), this.#turnedAway(problem)));
  }

  #arrive(told: JoinAnswer): void {
    if (this.bringsLuck && !this.watching && !this.joined) noteLuck(this.#seed, told.player, this.#bytes);
    this.joined = true;
    this.refused = null;
    this.#hear({ name: "joined", told });
    void this.look();
    // What was under way when the line broke may have been done or not. The same id: it is done once.
    for (const id of this.#asked.keys()) this.#push(id);
  }

  #turnedAway(problem: Problem): void {
    this.refused = problem;
    this.joined = false;
    if (FINAL.has(problem.code)) {
      this.#channel?.leave();
      for (const { settle } of this.#asked.values()) settle(problem);
    }
  }

  #push(id: string): void {
    const asked = this.#asked.get(id);
    if (!asked || !this.#channel) return;
    this.#channel
      .push(asked.name, asked.payload)
      .receive("ok", () => asked.settle(null))
      .receive("error", (problem: Problem) => asked.settle(problem))
      .receive("timeout", () => this.#push(id));
  }

  #hear(message: Message): void {
    const before = this.state;
    this.state = heard(before, message);
    if (this.state.missed && !before.missed) this.#rejoin();
    // Seats change hands where somebody comes, goes, or a new game begins.
    if (message.name === "presence_diff" || (message.name === "sync" && before.seq !== null)) void this.look();
  }

  #remember = (): void => remember(this.id, this.state);

  /** Join once more and hear all anew, as after an error: a channel that is told to rejoin while it is joined leaves. */
  #rejoin(): void {
    const channel = this.#channel as unknown as { state: string; trigger(event: string): void } | null;
    if (!this.joined || this.state.ended !== null || channel?.state !== "joined") return;
    this.#entered();
    this.#entered = line.expect(); // after a sleep the line may be dead
    channel.trigger("phx_error");
  }
}

/** Every command has an id, so that it is done once however often it is sent; also where `randomUUID` is not to be had. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A page that is loaded anew in the middle of a game goes on where it was, the talk included.

const key = (id: string) => `room:${id}`;

function remember(id: string, { seq, said }: RoomState): void {
  passing.setItem(key(id), JSON.stringify({ seq, said: said.slice(-50) }));
}

function remembered(id: string): Partial<RoomState> {
  const kept = passing.read(key(id)) as Pick<RoomState, "seq" | "said"> | null;
  return kept && typeof kept.seq === "number" && Array.isArray(kept.said) ? { seq: kept.seq, said: kept.said } : {};
}
