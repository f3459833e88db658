// The players' clocks: what each shows, and in words how much time players have.
import { t } from "../language/language.svelte";
import type { Clock, ClockSettings, Clocks } from "../wire";
import { spell } from "./waits";

/** The usual choices for whoever sets a game up, the quickest first. */
export const CLOCKS: readonly ClockSettings[] = [
  { kind: "increment", seconds: 180, extra: 2 },
  { kind: "increment", seconds: 300, extra: 3 },
  { kind: "increment", seconds: 900, extra: 10 },
  { kind: "turn", seconds: 30 },
  { kind: "turn", seconds: 86400 },
  { kind: "turn", seconds: 3 * 86400 },
];

/** How much time players have, in words. */
export function clockWords(settings: ClockSettings): string {
  const time = timeWords(settings);
  if (settings.at_zero === "bot") return t("{clock}; then a bot makes the move", time);
  return settings.at_zero === "claim" ? t("{clock}; then the other may claim the win", time) : time;
}

function timeWords({ kind, seconds, extra = 0 }: ClockSettings): string {
  if (kind === "turn") return t("{time} a turn", spell(seconds));
  if (!extra) return t("{time} for the game", spell(seconds));
  if (kind === "increment") return t("{time} and {more} more a turn", spell(seconds), spell(extra));
  return t("{time}, the first {free} of a turn free", spell(seconds), spell(extra));
}

/** The clock of a seat, as the page draws clocks. */
export function seatClock(clocks: Clocks | null, seat: number): Clock | undefined {
  const one = clocks?.seats[seat];
  if (!clocks || !one) return undefined;
  const free = clocks.settings.kind === "delay" ? (clocks.settings.extra ?? 0) : 0;
  return { seat, down: true, seconds: one.left, ...(one.since == null ? {} : { at: one.since + free }) };
}
