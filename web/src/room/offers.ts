// What players offer each other, in words, and what each of them can do about it.
import type { FullControl } from "../board/things";
import { t } from "../language/language.svelte";
import type { Clocks, Offers, OpenOffer, Player } from "../wire";

export type What = OpenOffer["what"];
type Seats = readonly (Player | null)[];

/** What the room's own entries in the menu send: an offer, or that I resign. */
export type RoomAsk = { ask: "offer"; what: What } | { ask: "resign" };

/** What is to be said beside the board, and what I can answer to it. */
export interface Word {
  readonly text: string;
  /** I can agree or decline; take my own offer back; ask to go on after a pause; claim the game; or just read. */
  readonly reply: "answer" | "withdraw" | "resume" | "claim" | null;
  readonly what: What | null;
}

const THEIRS: Record<What, (name: string) => string> = {
  draw: (name) => t("{name} offers a draw.", name),
  takeback: (name) => t("{name} would like to take a move back.", name),
  pause: (name) => t("{name} would like a pause.", name),
  resume: (name) => t("{name} would like to go on.", name),
};

const MINE: Record<What, () => string> = {
  draw: () => t("You have offered a draw."),
  takeback: () => t("You have asked to take a move back."),
  pause: () => t("You have asked for a pause."),
  resume: () => t("You have asked to go on."),
};

const DECLINED: Record<What, () => string> = {
  draw: () => t("Your draw was declined."),
  takeback: () => t("Your move stands: taking it back was declined."),
  pause: () => t("A pause was declined."),
  resume: () => t("Not everybody wants to go on yet."),
};

const TOLD: Record<What, (name: string) => string> = {
  draw: (name) => t("The draw that {name} offered was declined", name),
  takeback: (name) => t("{name} may not take the move back", name),
  pause: (name) => t("The pause that {name} asked for was declined", name),
  resume: (name) => t("{name} would have gone on", name),
};

/** What there is to say about offers, to me; null where nothing is on offer. */
export function wordOf(offers: Offers, seats: Seats, me: string | null): Word | null {
  const { open } = offers;
  const seated = seats.some((seat) => seat?.id === me);
  if (open?.by === me && me !== null) return { text: MINE[open.what](), reply: "withdraw", what: open.what };
  if (open) return { text: THEIRS[open.what](nameOf(open.by, seats)), reply: seated && !open.agreed?.includes(me ?? "") ? "answer" : null, what: open.what };
  const vain = offers.declined?.filter(({ by }) => by === me).at(-1);
  if (offers.paused != null) return { text: t("The game is paused, and its clock with it."), reply: seated ? "resume" : null, what: null };
  return vain && me !== null ? { text: DECLINED[vain.what](), reply: null, what: null } : null;
}

/** What there is to say about a player whose time is over while the game goes on, to me; null where there is none. */
export function lateWord(clocks: Clocks | null, seats: Seats, me: string | null): Word | null {
  const gone = seats.find((player, seat) => player && clocks?.away?.[seat]?.out);
  if (clocks && gone) return goneWord(clocks, gone, seats.some((player) => player?.id === me));
  const late = seats.filter((player, seat) => player && clocks?.seats[seat]?.out);
  const first = late[0];
  if (!clocks || !first) return null;
  if (clocks.settings.at_zero === "bot") return { text: first.id === me ? t("Your time is over: a bot makes this move.") : t("{name} is out of time: a bot makes this move.", first.name), reply: null, what: null };
  if (late.some((player) => player?.id === me)) return { text: t("Your time is over: until you move, the game can be claimed."), reply: null, what: null };
  return { text: t("{name} is out of time.", first.name), reply: seats.some((player) => player?.id === me) ? "claim" : null, what: null };
}

/** The same about one who has been away for longer than the room waits. */
function goneWord({ settings }: Clocks, gone: Player, seated: boolean): Word {
  if (settings.away?.at_zero === "bot") return { text: t("{name} is away for long: a bot moves until they are back.", gone.name), reply: null, what: null };
  return { text: t("{name} has been away for too long.", gone.name), reply: seated ? "claim" : null, what: null };
}

/** What is on the menu now: the offers that the game allows, and what it keeps there itself. */
export function menuOf(allowed: readonly string[], offers: Offers, own: readonly FullControl[], me: string | null, { clock, ranked, moved }: { clock: boolean; ranked: boolean; moved: boolean }): FullControl[] {
  const free = !offers.open;
  const running = offers.paused == null;
  const inVain = (what: What) => offers.declined?.some((one) => one.by === me && one.what === what) ?? false;
  const entries: FullControl[] = [];
  if (free && allowed.includes("draw") && !inVain("draw")) entries.push(entry("draw", t("Offer a draw"), { ask: "offer", what: "draw" }));
  if (free && running && moved && allowed.includes("takeback") && !inVain("takeback")) entries.push(entry("takeback", t("Take my move back"), { ask: "offer", what: "takeback" }));
  if (free && running && clock && allowed.includes("pause")) entries.push(entry("pause", t("Pause"), { ask: "offer", what: "pause" }));
  entries.push(...own);
  if (allowed.includes("resign")) {
    const cost = ranked ? t("Resign? You lose this game, and it counts for your rating.") : t("Resign? You lose this game.");
    entries.push(entry("resign", t("Resign"), { ask: "resign" }, cost));
  }
  return entries;
}

/** What happened between two moments, for those who read along in the chat. */
export function offerNews(before: Offers, after: Offers, seats: Seats): string[] {
  const news: string[] = [];
  if (after.open && !before.open) news.push(THEIRS[after.open.what](nameOf(after.open.by, seats)).replace(/\.$/, ""));
  const { open } = before;
  if (open && !after.open && after.declined?.some(({ by, what }) => by === open.by && what === open.what)) news.push(TOLD[open.what](nameOf(open.by, seats)));
  if (before.paused == null && after.paused != null) news.push(t("The game is paused"));
  if (before.paused != null && after.paused == null) news.push(t("The game goes on"));
  return news;
}

function nameOf(id: string, seats: Seats): string {
  return seats.find((seat) => seat?.id === id)?.name ?? t("Somebody");
}

function entry(id: string, text: string, event: RoomAsk, confirm = ""): FullControl {
  return { id: `room-${id}`, text, event, options: [], fields: null, main: false, key: "", confirm, auto: "", aside: true };
}
