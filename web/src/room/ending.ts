// The end of a game as its card tells it: who scored what, and what a ranked game made of the ratings.
import { signed } from "../ladder/words";
import type { GameResult, Player, Side } from "../wire";

export interface RatingChange {
  readonly before: string;
  readonly after: string;
  /** With its sign: `+12`, `−7`, `±0`. */
  readonly by: string;
  readonly way: "up" | "down" | "same";
}

/** What a ranked game in a room made of a rating, by a player's results, which come the newest first. */
export function ratingChange(results: readonly GameResult[], room: string): RatingChange | null {
  const result = results.find((one) => one.room === room && one.ranked);
  if (result?.rating_before == null || result.rating_after == null) return null;
  const [before, after] = [Math.round(result.rating_before), Math.round(result.rating_after)];
  const way = after > before ? "up" : after < before ? "down" : "same";
  return { before: String(before), after: String(after), by: signed(before, after), way };
}

export interface Line {
  readonly player: Player;
  readonly score: string;
  readonly rating: RatingChange | null;
  readonly won: boolean;
}

/** A line for each player, where there is anything to tell of them. */
export function lines(
  seats: readonly (Player | null)[],
  sides: readonly Side[],
  ratings: Readonly<Record<string, RatingChange | null>>,
  won: readonly string[],
): Line[] {
  const all = seats.flatMap((player, seat) =>
    player ? [{ player, score: sides[seat]?.score ?? "", rating: ratings[player.id] ?? null, won: won.includes(player.id) }] : [],
  );
  return all.some(({ score, rating }) => score || rating) ? all : [];
}
