// Going about the board by the arrow keys: to the nearest spot in that direction.
import { middle } from "./places";
import type { FullSpot, Things } from "./things";

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export function isArrow(key: string): boolean {
  return key in DIRECTIONS;
}

/** The spot to go to from here; the same where there is none further on. */
export function walk(scene: Things, from: string, key: string): string {
  const here = scene.spots.get(from);
  const direction = DIRECTIONS[key];
  if (!here || !direction) return from;
  const [dx, dy] = direction;
  const start = middle(here);
  let best = from;
  let least = Infinity;
  for (const spot of scene.spots.values()) {
    if (spot.label === "" || spot.id === from) continue;
    const there = middle(spot);
    const along = (there.x - start.x) * dx + (there.y - start.y) * dy;
    const aside = Math.abs((there.x - start.x) * dy) + Math.abs((there.y - start.y) * dx);
    // Straight on is better than near but aside.
    const far = along + 3 * aside;
    if (along > 0.05 && far < least) [best, least] = [spot.id, far];
  }
  return best;
}

/** The spot where the keyboard begins: the first on which something can be done, or the first of all. */
export function entrance(spots: readonly FullSpot[], isLive: (spot: FullSpot) => boolean): string | undefined {
  return (spots.find((spot) => spot.label !== "" && isLive(spot)) ?? spots.find((spot) => spot.label !== ""))?.id;
}
