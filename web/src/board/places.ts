// Where pieces stand: a pile on a point, rows in a tray, a hand of cards, the middle of a square. In units of the scene.
import type { FullPiece, FullSpot, Things } from "./things";

export interface Place {
  /** The middle of the piece. */
  x: number;
  y: number;
  /** Its size; 1 is a whole unit. */
  size: number;
  /** How it is turned, in degrees; not at all if missing. */
  turn?: number;
}

/** What of a piece says where it stands among others. */
export type Standing = Pick<FullPiece, "owner"> & Partial<Pick<FullPiece, "look">>;

/** How many times as high as wide a card is. */
export const CARD = 1.4;

/** More than so many on a point overlap, and are counted. */
export const PILE = 5;
/** How much of a pinned checker peeps out from under. */
const PEEP = 0.38;

/** The pieces of each spot, the lowest first. */
export function piles(pieces: Iterable<FullPiece>): Map<string, FullPiece[]> {
  const found = new Map<string, FullPiece[]>();
  for (const piece of pieces) {
    const pile = found.get(piece.spot);
    if (pile) pile.push(piece);
    else found.set(piece.spot, [piece]);
  }
  for (const pile of found.values()) pile.sort((a, b) => a.at - b.at);
  return found;
}

/** The places of all pieces that stand on a spot of the scene, by the piles that they form. */
export function places(
  spots: Things["spots"],
  standing: ReadonlyMap<string, readonly FullPiece[]>,
): Map<string, Place> {
  const found = new Map<string, Place>();
  for (const [id, pile] of standing) {
    const spot = spots.get(id);
    if (!spot) continue;
    const spaces = arranged(spot, pile);
    pile.forEach((piece, at) => found.set(piece.id, spaces[at]!));
  }
  return found;
}

/** Where the pieces of one pile stand on their spot. */
export function arranged(spot: FullSpot, pile: readonly Standing[]): Place[] {
  if (spot.shape === "up" || spot.shape === "down") return piled(spot, pile);
  if (spot.shape === "tray") return inRows(spot, pile.length);
  if (spot.shape === "hand") return inHand(spot, pile);
  if (pile.length > 1 && pile.every(({ look }) => look === "counter")) return inCluster(spot, pile.length);
  const size = pile.some(isCard) ? Math.min(spot.w, spot.h / CARD) : Math.min(spot.w, spot.h) * (SHRUNK[spot.shape] ?? 1);
  // What lies in a pile lies a little askew: that there are several is seen.
  const shift = spot.shape === "pile" ? 0.02 * size : 0;
  const seen = Math.min(4, pile.length - 1);
  return pile.map((_, at) => {
    const lies = shift * (seen / 2 - Math.max(0, at - pile.length + 1 + seen));
    return { x: middle(spot).x - lies, y: middle(spot).y + lies, size };
  });
}

/** How much smaller than their place pieces are; lines meet in a node, and a piece covers that. */
const SHRUNK: Readonly<Partial<Record<FullSpot["shape"], number>>> = { round: 0.92, hex: 0.86, node: 1.35 };

export function isCard({ look }: Partial<Pick<FullPiece, "look">>): boolean {
  return look === "card" || look === "card_back";
}

/** Side by side as long as there is room, then over each other, a little fanned; along the longer side. */
function inHand(spot: FullSpot, pile: readonly Standing[]): Place[] {
  const lying = spot.w >= spot.h;
  const [long, short] = lying ? [spot.w, spot.h] : [spot.h, spot.w];
  const high = pile.some(isCard) ? CARD : 1;
  const size = Math.min((short * 0.94) / high, long);
  const step = pile.length > 1 ? Math.min(size, (long - size) / (pile.length - 1)) : 0;
  const last = (pile.length - 1) / 2;
  return pile.map((_, at) => {
    const away = at - last;
    const along = long / 2 + away * step;
    const sunk = last ? (away / last) ** 2 * 0.03 * short : 0;
    const [x, y] = lying ? [along, short / 2 + sunk - 0.015 * short] : [short / 2, along];
    const turn = lying ? away * Math.min(0.9, 10 / pile.length) : 90;
    return { x: spot.x + x, y: spot.y + y, size, turn };
  });
}

/** Several counters on one spot stand in rows around its middle. */
function inCluster(spot: FullSpot, count: number): Place[] {
  const perLine = Math.ceil(Math.sqrt(count));
  const lines = Math.ceil(count / perLine);
  const size = (Math.min(spot.w, spot.h) * 0.94) / perLine;
  return Array.from({ length: count }, (_, at) => {
    const line = Math.floor(at / perLine);
    const inLine = Math.min(perLine, count - line * perLine);
    const x = middle(spot).x + ((at % perLine) - (inLine - 1) / 2) * size;
    return { x, y: middle(spot).y + (line - (lines - 1) / 2) * size, size };
  });
}

export function middle(spot: FullSpot): { x: number; y: number } {
  return { x: spot.x + spot.w / 2, y: spot.y + spot.h / 2 };
}

/** The place that one more piece would get. */
export function nextPlace(spot: FullSpot, pile: readonly FullPiece[], piece: Standing): Place {
  return arranged(spot, [...pile, piece]).at(-1)!;
}

/**
 * Where a piece shows itself on a spot that it only passes: beside whoever stands there, or, if two pass, each side on
 * its own; and never off the board.
 */
export function beside(spot: FullSpot, piece: Pick<FullPiece, "owner">, taken: boolean, width: number): Place {
  const { x, y } = middle(spot);
  const size = Math.min(spot.w, spot.h);
  const side = (piece.owner ?? 0) % 2 ? 1 : -1;
  const step = 0.84 * size;
  const fits = (at: number) => at - size / 2 >= 0 && at + size / 2 <= width;
  let there = x + (taken ? side * step : (side * step) / 2);
  if (taken && !fits(there)) there = x - side * step;
  if (!taken && !fits(x - step / 2)) there = side < 0 ? x : x + step;
  if (!taken && !fits(x + step / 2)) there = side < 0 ? x - step : x;
  return { x: there, y, size };
}

function piled(spot: FullSpot, pile: readonly Standing[]): Place[] {
  const size = Math.min(spot.w, 1);
  const pinned = pile.length > 1 && pile[0]!.owner !== pile[1]!.owner;
  const steps = pile.length - 1 - (pinned ? 1 : 0);
  const room = Math.min(spot.h, PILE * size) - size - (pinned ? PEEP * size : 0);
  const step = steps > 0 ? Math.min(size, room / steps) : size;
  return pile.map((_, at) => {
    const from = pinned && at > 0 ? PEEP * size + (at - 1) * step : at * step;
    const y = spot.shape === "up" ? spot.y + spot.h - size / 2 - from : spot.y + size / 2 + from;
    return { x: spot.x + spot.w / 2, y, size };
  });
}

function inRows(spot: FullSpot, count: number): Place[] {
  const [long, short] = spot.w >= spot.h ? [spot.w, spot.h] : [spot.h, spot.w];
  const size = trayed(long, short, count);
  const lines = Math.max(1, Math.floor(short / size + 1e-9));
  const fit = Math.max(1, Math.floor(long / size + 1e-9));
  const rows = Math.min(lines, Math.ceil(count / fit));
  // On a surface of its own a tray fills from its beginning; without one, what lies in it is centred, in even rows.
  const centred = spot.fill === "none";
  const perLine = centred ? Math.ceil(count / rows) : fit;
  const start = centred ? (long - Math.min(count, perLine) * size) / 2 : 0;
  const top = (short - rows * size) / 2;
  return Array.from({ length: count }, (_, at) => {
    const along = start + ((at % perLine) + 0.5) * size;
    const across = top + (Math.floor(at / perLine) + 0.5) * size;
    const [x, y] = spot.w >= spot.h ? [along, across] : [across, along];
    return { x: spot.x + x, y: spot.y + y, size };
  });
}

/** The largest size, at most 1, at which so many fit. */
function trayed(long: number, short: number, count: number): number {
  for (let size = Math.min(short, 1); size > 0.1; size -= 0.02) {
    if (Math.floor(long / size + 1e-9) * Math.floor(short / size + 1e-9) >= count) return size;
  }
  return 0.1;
}
