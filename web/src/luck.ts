// What this browser added to the luck of games. It is kept, so that one can look afterwards whether that is what was used.
import { lasting } from "./storage";

const KEY = "luck";
/** The newest are kept. */
const MOST = 100;

const all = () => Object.entries((lasting.read(KEY) ?? {}) as Record<string, string>);
const keyOf = (seed: string, player: string) => `${seed} ${player}`;

/** Note what a player added to the seed of this hash; what was noted first stays. */
export function noteLuck(seed: string, player: string, luck: string): void {
  if (luckOf(seed, player) !== undefined) return;
  lasting.setItem(KEY, JSON.stringify(Object.fromEntries([...all(), [keyOf(seed, player), luck]].slice(-MOST))));
}

/** What this browser added for a player to the seed of this hash, as far as it remembers. */
export function luckOf(seed: string, player: string): string | undefined {
  return all().find(([key]) => key === keyOf(seed, player))?.[1];
}
