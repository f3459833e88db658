// How long a room waits, in words: nothing is promised that the server does not keep.
import { spanOf, t } from "../language/language.svelte";
import type { Waits } from "../wire";

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]] as const;

/** So many seconds in the largest unit that says it well; rather too few than too many. */
export function spell(seconds: number): string {
  const [name, unit] = UNITS.find(([, unit]) => seconds >= 2 * unit || seconds === unit) ?? UNITS[3];
  return spanOf(Math.floor(seconds / unit), name);
}

/** What becomes of my seat and the room if I close the page now and come back by its link; *over*: there is an outcome. */
export function whileAway(waits: Waits, over: boolean): string {
  const { away, nobody, ends_under_players } = waits;
  // Where the server says how long rooms last, one with nothing more to play goes as soon as an empty one.
  const game = over && !ends_under_players ? waits.empty : waits.game;
  const most = shortest(nobody, game);
  if (away === null || (most !== null && away >= most)) {
    return most === null ? t("The room waits as long as it takes.") : t("The room waits {time} for somebody to come back.", spell(most));
  }
  if (most === null) return t("Your seat is kept for {time}, and the room waits as long as it takes.", spell(away));
  return t("Your seat is kept for {time}, and the room waits {longer} for somebody to come back.", spell(away), spell(most));
}

/** How long a room waits in which so many seats are still free. */
export function forFriends(waits: Waits, free: number): string {
  const most = shortest(waits.nobody, waits.game, waits.away);
  if (most !== null && most < 3600) return t("Keep this page open: once you close it, the room waits only {time}.", spell(most));
  if (most === null) return free > 1 ? t("You can close this page: the room waits for you all.") : t("You can close this page: the room waits for you both.");
  return free > 1
    ? t("You can close this page: the room waits {time} for you all.", spell(most))
    : t("You can close this page: the room waits {time} for you both.", spell(most));
}

/** That a room ends where nobody does anything, for games that have it so. */
export function whileIdle({ game, ends_under_players }: Waits): string {
  return ends_under_players && game !== null ? t("If nobody does anything for {time}, the room closes.", spell(game)) : "";
}

function shortest(...waits: (number | null)[]): number | null {
  const known = waits.filter((one) => one !== null);
  return known.length ? Math.min(...known) : null;
}
