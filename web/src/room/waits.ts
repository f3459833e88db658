// How long a room waits, in words: nothing is promised that the server does not keep.
import type { Waits } from "../wire";

const UNITS: readonly [string, number][] = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

/** So many seconds in the largest unit that says it well; rather too few than too many. */
export function spell(seconds: number): string {
  if (seconds === 0) return "0 seconds";
  const [name, unit] = UNITS.find(([, unit]) => seconds >= 2 * unit || seconds === unit) ?? ["second", 1];
  const count = Math.floor(seconds / unit);
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

/** What becomes of my seat and the room if I close the page now and come back by its link; *over*: there is an outcome. */
export function whileAway(waits: Waits, over: boolean): string {
  const { away, nobody, ends_under_players } = waits;
  // Where the server says how long rooms last, one with nothing more to play goes as soon as an empty one.
  const game = over && !ends_under_players ? waits.empty : waits.game;
  const seat = away === null ? "" : `your seat is kept for ${spell(away)}`;
  const most = shortest(nobody, game);
  const room = most === null ? "the room waits as long as it takes" : `the room waits ${spell(most)} for somebody to come back`;
  if (most !== null && away !== null && away >= most) return `${upper(room)}.`;
  return `${upper([seat, room].filter(Boolean).join(", and "))}.`;
}

/** How long a room waits in which the other seat is still free. */
export function forFriend(waits: Waits): string {
  const most = shortest(waits.nobody, waits.game, waits.away);
  if (most === null) return "You can close this page: the room waits for you both.";
  if (most < 3600) return `Keep this page open: once you close it, the room waits only ${spell(most)}.`;
  return `You can close this page: the room waits ${spell(most)} for you both.`;
}

/** That a room ends where nobody does anything, for games that have it so. */
export function whileIdle({ game, ends_under_players }: Waits): string {
  return ends_under_players && game !== null ? `If nobody does anything for ${spell(game)}, the room closes.` : "";
}

function shortest(...waits: (number | null)[]): number | null {
  const known = waits.filter((one) => one !== null);
  return known.length ? Math.min(...known) : null;
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
