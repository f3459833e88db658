// The players' clocks: what each shows, in words how much time players have, and how a clock is set.
import type { Field } from "../form";
import { t } from "../language/language.svelte";
import type { Clock, ClockSettings, Clocks } from "../wire";
import { spell } from "./waits";

type Kind = ClockSettings["kind"];
export type AtZero = NonNullable<ClockSettings["at_zero"]>;

/** The usual choices for whoever sets a game up, the quickest first. */
export const CLOCKS: readonly ClockSettings[] = [
  { kind: "increment", seconds: 180, extra: 2 },
  { kind: "increment", seconds: 300, extra: 3 },
  { kind: "increment", seconds: 900, extra: 10 },
  { kind: "delay", seconds: 600, extra: 12 },
  { kind: "turn", seconds: 30 },
  { kind: "turn", seconds: 60 },
  { kind: "turn", seconds: 86400 },
  { kind: "turn", seconds: 3 * 86400 },
];

const HALF_A_DAY = 12 * 3600;

/** Whether a turn may take so long that nobody waits for it. */
export function isOverDays(clock: ClockSettings | null): boolean {
  return clock?.kind === "turn" && (clock.seconds ?? 0) >= HALF_A_DAY;
}

/** For how many seconds players may be away, where whoever opens a room limits it. */
export const ABSENCES: readonly number[] = [30, 60, 300, 900, 3600, 86400];

/** What players accept with a clock, in words: their time, and how long they may be away. */
export function clockTerms(settings: ClockSettings): string[] {
  const { kind, at_zero, away } = settings;
  const terms: string[] = [];
  if (kind !== "none") terms.push(atZeroWords(timeWords(settings), at_zero));
  if (away) terms.push(awayWords(spell(away.seconds), away.at_zero));
  return terms;
}

function atZeroWords(time: string, at_zero: AtZero = "lose"): string {
  if (at_zero === "bot") return t("{clock}; then a bot makes the move", time);
  return at_zero === "claim" ? t("{clock}; then the other may claim the win", time) : time;
}

function awayWords(time: string, at_zero: AtZero = "lose"): string {
  if (at_zero === "bot") return t("A bot moves after {time} away", time);
  return at_zero === "claim" ? t("The win can be claimed after {time} away", time) : t("Lost after {time} away", time);
}

/** How much time players have, in words. */
export function timeWords({ kind, seconds = 0, extra = 0 }: ClockSettings): string {
  if (kind === "turn") return t("{time} a turn", spell(seconds));
  if (!extra) return t("{time} for the game", spell(seconds));
  if (kind === "increment") return t("{time} and {more} more a turn", spell(seconds), spell(extra));
  return t("{time}, the first {free} of a turn free", spell(seconds), spell(extra));
}

/** What a player may do who wants to close the page while the clocks of a game run. */
export function whileClocked({ kind, away }: ClockSettings): string {
  if (!away) return t("Your seat is kept until your time is over: the clock runs on.");
  const most = spell(away.seconds);
  return kind === "none" ? t("You can be away for {time} in all.", most) : t("You can be away for {time} in all, and your clock stands still meanwhile.", most);
}

/** The clock of a seat, as the page draws clocks. */
export function seatClock(clocks: Clocks | null, seat: number): Clock | undefined {
  const one = clocks?.seats[seat];
  if (!clocks || !one || clocks.settings.kind === "none") return undefined;
  const free = clocks.settings.kind === "delay" ? (clocks.settings.extra ?? 0) : 0;
  if (one.since != null) return { seat, down: true, seconds: one.left, at: one.since + free };
  return { seat, down: true, seconds: one.left - Math.max(0, (one.spent ?? 0) - free) };
}

/** How long the player of a seat may still be away, as a clock, while they are. */
export function awayClock(clocks: Clocks | null, seat: number): Clock | undefined {
  const one = clocks?.away?.[seat];
  return one?.since == null ? undefined : { seat, down: true, seconds: one.left, at: one.since };
}

// A clock of one's own.

const NUMBER = { kind: "number", choices: [], initial: null, optional: false, open: false, empty: "", group: "", cards: {}, hint: "" } as const;

/** The fields by which a clock of this kind is set. */
export function clockFields(kind: Kind): Field[] {
  const turn = kind === "turn";
  const time = turn
    ? { name: "time", title: t("Time for a turn"), unit: "seconds", min: 5, max: 30 * 86400, whole: true }
    : { name: "time", title: t("Time for the game"), unit: "minutes", min: 0.1, max: 30 * 1440, whole: false };
  const title = kind === "increment" ? t("More for each turn") : t("Free in each turn");
  const extra = { name: "extra", title, unit: "seconds", min: 0, max: 3600, whole: true };
  return (turn ? [time] : [time, extra]).map((one) => ({ ...NUMBER, ...one }));
}

/** The clock of this kind that was filled in. */
export function filledClock(kind: Kind, values: Record<string, string | boolean>): ClockSettings {
  const [time, extra] = [Number(values["time"]), Number(values["extra"])];
  return kind === "turn" ? { kind, seconds: time } : { kind, seconds: Math.round(time * 60), extra };
}
