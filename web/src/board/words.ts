// Texts of a scene as they are shown and read out.
import { t, told } from "../language/language.svelte";
import type { Clock } from "../wire";
import type { FullPiece, FullSpot } from "./things";

/** A text of a scene in the reader's language; `{0}` becomes the name of whoever has seat 0. */
export function named(text: string, names: readonly (string | null | undefined)[]): string {
  return withNames(told(text), names);
}

function withNames(text: string, names: readonly (string | null | undefined)[]): string {
  return text.replace(/\{(\d+)\}/g, (_, seat: string) => names[Number(seat)] ?? t("player {number}", Number(seat) + 1));
}

/** A text around some names: text, name, text, name, text. */
export function aroundNames(text: string, names: readonly string[]): string[] {
  if (!names.length) return [text];
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  const any = longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return text.split(new RegExp(`(${any})`));
}

/** What a screen reader says of a spot and of what stands on it: `point 6, 5 checkers of Ann`. */
export function spoken(spot: FullSpot, pile: readonly FullPiece[], names: readonly (string | null | undefined)[]): string {
  const counts = new Map<string, number>();
  for (const { label, count } of pile) if (label) counts.set(label, (counts.get(label) ?? 0) + (count || 1));
  const said = [...counts].map(([label, count]) => (count > 1 ? several(count, label) : told(label)));
  return withNames([told(spot.label), ...said].join(", "), names);
}

/** A label in the plural; where a language has no word for that, it is counted. */
function several(count: number, label: string): string {
  const plural = `${count} ${label.replace(/^\w+/, "$&s")}`;
  const translated = told(plural);
  return translated === plural && told(label) !== label ? `${count} × ${told(label)}` : translated;
}

/** What a clock shows when the room's own clock shows *now*. */
export function shown(clock: Clock, now: number): number {
  if (clock.at == null) return Math.max(0, clock.seconds);
  const since = Math.max(0, now - clock.at);
  return Math.max(0, clock.down ? clock.seconds - since : clock.seconds + since);
}

/** Seconds as people read them: `1:05`. One that runs down shows 0:00 only when it is over. */
export function clockFace(seconds: number, down = false): string {
  const whole = down ? Math.ceil(seconds) : Math.floor(seconds);
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60];
  const padded = String(rest).padStart(2, "0");
  if (minutes < 60) return `${minutes}:${padded}`;
  if (minutes >= 1440) return t("{days} d {hours} h", Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60));
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${padded}`;
}

/** A line of a log that begins with a player: whose it was, how that is written, and what was done. */
export function turnOf(line: string): { readonly seat: number | null; readonly who: string; readonly what: string } {
  const found = /^(\{(\d+)\}:?) (.+)$/s.exec(line);
  return found ? { seat: Number(found[2]), who: found[1]!, what: found[3]! } : { seat: null, who: "", what: line };
}
