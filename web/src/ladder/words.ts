// Standings and results as people read them.
import { inside, language, t } from "../language/language.svelte";
import type { GameResult, RatingPoint, Stake, Standing } from "../wire";

/** What is believed of somebody's strength, and within which bounds it almost certainly is. */
export function strength({ rating }: Pick<Standing, "rating">): { rating: string; within: string } {
  return { rating: String(Math.round(rating?.rating ?? 1500)), within: `± ${Math.round(2 * (rating?.deviation ?? 350))}` };
}

/** `12 won, 1 drawn, 3 lost`; what never happened is left out. */
export function record({ won = 0, drew = 0, lost = 0 }: Standing): string {
  const said = [won && t("{count} won", won), drew && t("{count} drawn", drew), lost && t("{count} lost", lost)];
  return said.filter(Boolean).join(", ");
}

/** `3 wins in a row`, once there are two. */
export function streak({ streak: count = 0 }: Standing): string {
  if (count > 1) return t("{count} wins in a row", count);
  return count < -1 ? t("{count} losses in a row", -count) : "";
}

/** `at most 5 in a row`, where that is more than now. */
export function longest({ longest: most = 0, streak: count = 0 }: Standing): string {
  return most > 1 && most > count ? t("once {count} wins in a row", most) : "";
}

export function how({ how }: GameResult): string {
  return { won: t("Won"), lost: t("Lost"), drew: t("Drew") }[how];
}

/** The last games of a ladder, the newest last: for whoever does not see the dots. */
export function form(results: readonly GameResult[]): string {
  return t("The last games: {results}", results.map((one) => inside(how(one))).reverse().join(", "));
}

/** By how much a rating changes, as whole ratings are shown: `+12`, `−7`, `±0`. */
export function signed(before: number, after: number): string {
  const points = Math.round(after) - Math.round(before);
  return points > 0 ? `+${points}` : points < 0 ? `\u2212${-points}` : "\u00b10";
}

/** What a ranked game made of the rating: `+12`, `−7`. */
export function change({ rating_before: before, rating_after: after }: GameResult): string {
  return before == null || after == null ? "" : signed(before, after);
}

/** What is at stake for a player, to be seen and to be heard; null while nobody knows against whom. */
export function atStake({ rating, won, drew, lost }: Stake): { shown: string; said: string } | null {
  if (won == null || lost == null) return null;
  const [win, loss] = [signed(rating, won), signed(rating, lost)];
  if (drew == null) return { shown: `${win} / ${loss}`, said: t("a win {win}, a loss {loss}", win, loss) };
  const draw = signed(rating, drew);
  return { shown: `${win} / ${draw} / ${loss}`, said: t("a win {win}, a draw {draw}, a loss {loss}", win, draw, loss) };
}

const NEWCOMER = 1500;

/** The ratings on a ladder, the oldest first; where all games are known, they begin with a newcomer's. */
export function ratingsOn(standing: Standing, told: readonly RatingPoint[]): readonly number[] {
  const { ladder, won = 0, drew = 0, lost = 0 } = standing;
  const ratings = told.filter((point) => point.ladder === ladder).map((point) => point.rating);
  return ratings.length === won + drew + lost ? [NEWCOMER, ...ratings] : ratings;
}

/** The game and the variant of a ladder: `backgammon/fevga`. */
export function ladderParts(ladder: string): [game: string, variant: string | undefined] {
  const [game = "", variant] = ladder.split("/", 2);
  return [game, variant];
}

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** How long ago, for as long as that says more than the date. */
export function ago(date: number, now: number, written = new Intl.DateTimeFormat(language.locale, { dateStyle: "medium" })): string {
  const seconds = now - date;
  if (seconds < MINUTE) return t("just now");
  if (seconds < 60 * MINUTE) return several(Math.floor(seconds / MINUTE), "minute");
  if (seconds < DAY) return several(Math.floor(seconds / 60 / MINUTE), "hour");
  return seconds < 7 * DAY ? several(Math.floor(seconds / DAY), "day") : written.format(date * 1000);
}

function several(count: number, unit: "minute" | "hour" | "day"): string {
  return new Intl.RelativeTimeFormat(language.locale).format(-count, unit);
}

/** Small facts in a row; a line breaks behind a dot, never before it. */
export function inARow(...facts: readonly string[]): string {
  return facts.filter(Boolean).join("\u00a0· ");
}
