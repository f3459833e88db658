// A room as the browser knows it, and how each message changes it. No socket, no clock, no drawing.
import { patched, things, type Things } from "../board/things";
import { named } from "../board/words";
import { listed, t, told } from "../language/language.svelte";
import { toldApart } from "../players";
import { offerNews } from "./offers";
import type { ChatLine, Clocks, Here, JoinAnswer, Offers, Outcome, Player, Pushes, Result, PublicRoom, Sync, Updated } from "../wire";

type PresenceState = Record<string, Here>;

/** Something that the page itself tells, among what was said: after which step, and what. */
export interface Note {
  readonly seq: number;
  readonly text: string;
}

export interface RoomState {
  readonly player: string | null;
  readonly seat: number | null;
  readonly seq: number | null;
  readonly scene: Things | null;
  readonly result: Result | null;
  /** What the players offer each other, and whether they have paused. */
  readonly offers: Offers;
  /** The time of each seat, where players have clocks. */
  readonly clocks: Clocks | null;
  readonly seats: readonly (Player | null)[];
  /** Those who were paired for this room and have not sat down yet. */
  readonly coming: readonly Player[];
  readonly present: PresenceState;
  readonly said: readonly ChatLine[];
  /** Who sat down and who left, since I am here. */
  readonly notes: readonly Note[];
  /** Who left last, while nobody has come instead. */
  readonly left: string | null;
  /** The room's clock less the browser's own, in seconds. */
  readonly skew: number;
  /** Why the saved rules do not load; the old ones go on. */
  readonly fault: string | null;
  /** Why the room is over for good. */
  readonly ended: string | null;
  /** A step was missed: join again. */
  readonly missed: boolean;
}

export const NOWHERE: RoomState = {
  player: null, seat: null, seq: null, scene: null, result: null, offers: {}, clocks: null, seats: [], coming: [], present: {}, said: [], notes: [], left: null, skew: 0,
  fault: null, ended: null, missed: false,
};

const KEPT_LINES = 200;

export type Message =
  | { name: "joined"; told: JoinAnswer }
  | { name: "sheet"; told: PublicRoom }
  | { name: "sync"; told: Sync; at: number }
  | { name: "update"; told: Updated; at?: number }
  | { [Name in Exclude<keyof Pushes, "sync" | "update" | "game_event">]: { name: Name; told: Pushes[Name] } }[
      Exclude<keyof Pushes, "sync" | "update" | "game_event">
    ];

/** The room after a message. */
export function heard(room: RoomState, message: Message): RoomState {
  switch (message.name) {
    case "joined":
      return { ...room, player: message.told.player, seat: message.told.seat, missed: false };
    case "sync":
      return synced(room, message.told, message.at);
    case "update":
      return updated(room, message.told, message.at);
    case "chat":
      return chatted(room, message.told);
    case "presence_state":
      return withPresence(room, message.told);
    case "presence_diff":
      return withPresence(room, presentAfter(room.present, message.told));
    case "shutdown":
      return { ...room, ended: message.told.reason };
    case "sheet":
      return noted(seated({ ...room, ended: message.told.ended, seats: message.told.seats, coming: message.told.coming }), room.seats);
  }
}

function synced(room: RoomState, told: Sync, at: number): RoomState {
  return {
    ...room,
    seq: told.seq,
    scene: told.scene ? things(told.scene) : room.scene,
    result: told.result ?? null,
    // Smaller numbers than before: it is another room, by the same name.
    ...(told.reset && room.seq !== null && told.seq < room.seq ? { said: [], notes: [], left: null } : {}),
    skew: told.now === undefined ? room.skew : told.now - at,
    // Only the room's own knows of it, which has the time; one that a game sends within a step does not.
    fault: told.now === undefined ? room.fault : (told.fault ?? null),
    offers: told.now === undefined ? room.offers : (told.offers ?? {}),
    clocks: told.now === undefined ? room.clocks : (told.clocks ?? null),
    missed: false,
  };
}

/** By so many seconds a message can set the room's clock back: one that was handled late says too little, and the next is right. */
const GIVES_WAY = 0.02;

function updated(room: RoomState, told: Updated, at?: number): RoomState {
  if (room.seq === null || told.seq <= room.seq - 1) return room;
  // The update that ends a step with a sync in it has that sync's number.
  if (told.seq > room.seq + 1) return { ...room, missed: true };
  const scene = told.patch && room.scene ? patched(room.scene, told.patch) : room.scene;
  const result = told.result === undefined ? room.result : told.result;
  const skew = told.now === undefined || at === undefined ? room.skew : Math.max(told.now - at, room.skew - GIVES_WAY);
  const offers = told.offers ?? room.offers;
  const news = offerNews(room.offers, offers, toldApart(room.seats)).map((text) => ({ seq: told.seq, text }));
  const clocks = told.clocks ?? room.clocks;
  return { ...room, seq: told.seq, scene, result, skew, offers, clocks, notes: news.length ? [...room.notes, ...news].slice(-KEPT_LINES) : room.notes };
}

function chatted(room: RoomState, told: ChatLine): RoomState {
  if (room.said.some((line) => line.seq === told.seq)) return room;
  return { ...room, said: [...room.said, told].slice(-KEPT_LINES) };
}

function withPresence(room: RoomState, present: PresenceState): RoomState {
  const seats = [...room.seats];
  for (const [id, { metas }] of Object.entries(present)) {
    const meta = metas[0];
    if (meta?.seat != null) seats[meta.seat] = { id, name: meta.name ?? id, ...(meta.bot ? { bot: true } : {}), ...(meta.account ? { account: true } : {}) };
  }
  return noted(seated({ ...room, present, seats }), room.seats);
}

/** Who gave a seat up and who took one is worth a line; before I knew the seats there is nothing to tell. */
function noted(room: RoomState, before: RoomState["seats"]): RoomState {
  const sat = (seats: RoomState["seats"], id: string) => seats.some((seat) => seat?.id === id);
  const others = (seats: RoomState["seats"]) => seats.filter((seat) => seat != null && seat.id !== room.player) as Player[];
  if (!before.length) return room;
  const left = others(toldApart(before)).filter(({ id }) => !sat(room.seats, id));
  const came = others(toldApart(room.seats)).filter(({ id }) => !sat(before, id));
  if (!left.length && !came.length) return room;
  const lines = [...left.map(({ name }) => t("{name} has left the table", name)), ...came.map(({ name }) => t("{name} sits down", name))];
  const notes = [...room.notes, ...lines.map((text) => ({ seq: room.seq ?? 0, text }))].slice(-KEPT_LINES);
  return { ...room, notes, left: came.length ? null : (left.at(-1)?.name ?? room.left) };
}

/** Everything that stands in the chat, in its order. */
export function talk({ said, notes }: Pick<RoomState, "said" | "notes">): readonly (ChatLine | Note)[] {
  return [...said, ...notes].sort((one, other) => one.seq - other.seq);
}

/** Seats change hands by a rematch, and mine with them. */
function seated(room: RoomState): RoomState {
  const mine = room.seats.findIndex((seat) => seat !== null && seat?.id === room.player);
  return mine >= 0 ? { ...room, seat: mine } : room;
}

/** Who is here after a change: metas come and go one by one. */
export function presentAfter(present: PresenceState, { joins, leaves }: Pushes["presence_diff"]): PresenceState {
  const after: PresenceState = { ...present };
  for (const [id, { metas }] of Object.entries(joins)) {
    const fresh = new Set(metas.map((meta) => meta.phx_ref));
    const stay = (after[id]?.metas ?? []).filter((meta) => !fresh.has(meta.phx_ref));
    after[id] = { metas: [...stay, ...metas] };
  }
  for (const [id, { metas }] of Object.entries(leaves)) {
    const left = new Set(metas.map((meta) => meta.phx_ref));
    const stay = (after[id]?.metas ?? []).filter((meta) => !left.has(meta.phx_ref));
    if (stay.length) after[id] = { metas: stay };
    else delete after[id];
  }
  return after;
}

export function isHere(room: RoomState, player: Player | null | undefined): boolean {
  return player != null && (room.present[player.id]?.metas.length ?? 0) > 0;
}

/** Those who have asked for a rematch and wait for the others. */
export function askers(room: RoomState): Player[] {
  return toldApart(room.seats).filter((seat) => seat != null && room.present[seat.id]?.metas.some(({ again }) => again)) as Player[];
}

export function spectators(room: RoomState): number {
  return room.present["spectators"]?.metas.at(-1)?.count ?? 0;
}

/** The one sentence to me: why the room closed, how the game ended, or what it says itself. */
export function headline(room: RoomState, seats: readonly (Player | null)[]): string {
  if (room.ended !== null && !room.result) return farewell(room.ended);
  if (room.result) return verdict(room.result.outcome, seats, room.player, room.result.verdict);
  return room.scene ? named(room.scene.status, seats.map((seat) => seat?.name)) : "";
}

/** How it ended, in a sentence: who won, and why; of a verdict of the room's, whose doing it was. */
export function verdict(outcome: Outcome, seats: readonly (Player | null)[], me: string | null, how: Result["verdict"] = null): string {
  const names = (ids: readonly string[] = []) => list(ids, seats, me);
  const won = outcome.won ?? [];
  const mine = me !== null && won.includes(me);
  const doing = doingOf(outcome, names, me, how);
  if (doing && !mine) return won.length ? `${doing}: ${winners(won, names)}` : doing;
  const told = doing && (how !== "resigned" || won.length > 1) ? doing : outcome.why && whyWords(outcome.why);
  const why = told ? `: ${told}` : "";
  if (won.length === 0) {
    if (outcome.drew?.length) return t("A draw") + why;
    if (me !== null && outcome.lost?.includes(me)) return t("You lose") + why;
    return (outcome.lost?.length ? losers(outcome.lost, names) : t("It is over")) + why;
  }
  if (won.length === 1 && mine) return t("You win") + why;
  const said = winners(won, names) + why;
  return won[0] === me ? said.charAt(0).toUpperCase() + said.slice(1) : said; // a player's own name stays as it is
}

function winners(won: readonly string[], names: (ids: readonly string[]) => string): string {
  return won.length > 1 ? t("{names} win", names(won)) : t("{name} wins", names(won));
}

function losers(lost: readonly string[], names: (ids: readonly string[]) => string): string {
  return lost.length > 1 ? t("{names} lost", names(lost)) : t("{name} lost", names(lost));
}

/** By whose doing the room has ended the game; "" where the rules have, or where all agreed. */
function doingOf({ lost = [], why }: Outcome, names: (ids: readonly string[]) => string, me: string | null, how: Result["verdict"]): string {
  const mine = me !== null && lost.includes(me);
  if (how === "resigned") return mine ? t("You resigned") : t("{name} resigned", names(lost));
  if (how !== "flagged") return "";
  if (why === "out of time") return mine ? t("You ran out of time") : t("{name} ran out of time", names(lost));
  return why === "away too long" ? (mine ? t("You were away too long") : t("{name} was away too long", names(lost))) : "";
}

/** Why it ended: in the room's own words, or in the game's. */
function whyWords(why: string): string {
  if (why === "out of time") return t("out of time");
  if (why === "away too long") return t("away too long");
  return why === "both sides agreed" ? t("both sides agreed") : told(why);
}

function list(ids: readonly string[], seats: readonly (Player | null)[], me: string | null): string {
  const nameOf = (id: string) => seats.find((seat) => seat?.id === id)?.name;
  return listed(ids.map((id, n) => (id === me ? t("you") : (nameOf(id) ?? (n ? t("somebody") : t("Somebody"))))));
}

/** Why a room is over for good, in a sentence. */
export function farewell(reason: string): string {
  const known: Record<string, string> = {
    game_ended: t("This room has closed."),
    game_timeout: t("This room has closed: nothing happened for a while."),
    nobody_came: t("Not everybody came, so there is no game here."),
    nobody_here: t("This room has closed: everybody had left."),
    rules_changed: t("This room has closed: the rules of the game were changed."),
  };
  return known[reason] ?? t("This room has closed.");
}
