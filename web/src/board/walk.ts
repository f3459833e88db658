// Going about the board by the arrow keys, to the nearest spot, or card of a hand, in that direction.
import { canAct } from "./hand";
import { middle, piles, places, type Place } from "./places";
import type { FullPiece, FullSpot, Things } from "./things";

/** Where the keyboard can stand: a spot, or one of the pieces on it. */
export interface Stop {
  /** Of the piece, or of the spot. */
  readonly id: string;
  readonly spot: string;
  readonly piece?: string;
  readonly x: number;
  readonly y: number;
}

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The order of the scene, for boards on which no arrow leads everywhere. */
const STEPS: Readonly<Record<string, number>> = { PageUp: -1, PageDown: 1 };

export function goesAbout(key: string): boolean {
  return key in DIRECTIONS || key in STEPS;
}

/**
 * The pieces of a spot at which the keyboard stops one by one: all that are seen of a hand, and in a tray those that can
 * do something, if they differ.
 */
export function stopsOn(spot: FullSpot, pile: readonly FullPiece[]): readonly FullPiece[] {
  if (spot.shape === "hand") return pile.filter(({ look, label }) => label !== "" && look !== "card_back");
  if (spot.shape !== "tray") return NONE;
  const acting = pile.filter((piece) => piece.label !== "" && canAct(piece));
  return new Set(acting.map(({ label }) => label)).size > 1 ? acting : NONE;
}
const NONE: readonly FullPiece[] = [];

/** Everywhere that the keyboard can stand. */
export function stops(
  spots: Things["spots"],
  standing: ReadonlyMap<string, readonly FullPiece[]>,
  placed: ReadonlyMap<string, Place>,
  aims: ReadonlySet<string>,
): Stop[] {
  return [...spots.values()].flatMap((spot): Stop[] => {
    if (spot.label === "") return [];
    const own = stopsOn(spot, standing.get(spot.id) ?? NONE).map(({ id }) => {
      const { x, y } = placed.get(id)!;
      return { id, spot: spot.id, piece: id, x, y };
    });
    const itself = !own.length || spot.click != null || aims.has(spot.id);
    return itself ? [...own, { id: spot.id, spot: spot.id, ...middle(spot) }] : own;
  });
}

/** The same of a scene as it stands. */
export function stopsOf(scene: Things): Stop[] {
  const standing = piles(scene.pieces.values());
  return stops(scene.spots, standing, places(scene.spots, standing), new Set());
}

/** The stop to go to from here; the same where there is none further on. */
export function walk(all: readonly Stop[], from: string, key: string): string {
  const step = STEPS[key];
  if (step !== undefined) return all[all.findIndex(({ id }) => id === from) + step]?.id ?? from;
  const start = all.find(({ id }) => id === from);
  const direction = DIRECTIONS[key];
  if (!start || !direction) return from;
  const [dx, dy] = direction;
  let best = from;
  let least = Infinity;
  for (const there of all) {
    if (there.id === from) continue;
    const along = (there.x - start.x) * dx + (there.y - start.y) * dy;
    const aside = Math.abs((there.x - start.x) * dy) + Math.abs((there.y - start.y) * dx);
    // Straight on is better than near but aside.
    const far = along + 3 * aside;
    if (along > 0.05 && far < least) [best, least] = [there.id, far];
  }
  return best;
}

/** Where the keyboard begins: the first stop at which something can be done, or the first of all. */
export function entrance(all: readonly Stop[], isLive: (stop: Stop) => boolean): string | undefined {
  return (all.find(isLive) ?? all[0])?.id;
}
