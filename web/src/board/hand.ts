// What a person's hand does on the board: press, pick up, drop, let go. Nothing is asked of the server for it.
import { piles } from "./places";
import type { FullPiece, FullSpot, Things } from "./things";

export interface Hand {
  /** The piece that is picked up. */
  readonly picked: string | null;
  /** A piece that was put somewhere and waits for the server's word: it is drawn there. */
  readonly put: { readonly piece: string; readonly spot: string } | null;
}

export const EMPTY: Hand = { picked: null, put: null };

/** Where a person pressed: on a piece, or on a spot. */
export interface Pressed {
  readonly spot: string;
  readonly piece?: string | undefined;
  /** It is the second click of a double one. */
  readonly again?: boolean;
}

export interface Done {
  readonly hand: Hand;
  /** The event to send, if any. */
  readonly send?: unknown;
  /** It puts a piece away, into a tray: the second click of a double one means no other piece. */
  readonly away?: boolean;
}

/** A click, a tap, or Enter. */
export function press(scene: Things, hand: Hand, at: Pressed): Done {
  const picked = hand.picked === null ? undefined : scene.pieces.get(hand.picked);
  if (picked) {
    if (at.spot in picked.drops) return drop(scene, hand, picked.id, at.spot);
    const another = scene.spots.get(at.spot)?.shape === "hand" && at.piece !== undefined && at.piece !== picked.id;
    if (at.spot === picked.spot && !another) return { hand: letGo(hand), ...(at.again && picked.twice != null && { send: picked.twice }) };
  }
  const actor = actorAt(scene, at);
  if (actor?.click != null) return { hand: letGo(hand), send: actor.click, ...(isPutAway(scene, actor) && { away: true }) };
  if (actor) return { hand: { ...hand, picked: actor.id } };
  const spot = scene.spots.get(at.spot);
  return spot?.click == null ? { hand: letGo(hand) } : { hand: letGo(hand), send: spot.click };
}

/** Whether the click of a piece is its drop into a tray. */
function isPutAway(scene: Things, { click, drops }: FullPiece): boolean {
  return Object.entries(drops).some(([spot, event]) => scene.spots.get(spot)?.shape === "tray" && written(event) === written(click));
}

/** The same for the same event, in whatever order its fields stand. */
export function written(event: unknown): string | undefined {
  if (typeof event !== "object" || event === null) return JSON.stringify(event);
  return JSON.stringify(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A right click, a long press, or Shift+Enter. */
export function pressSecond(scene: Things, hand: Hand, at: Pressed): Done {
  const event = scene.spots.get(at.spot)?.second;
  return event == null ? { hand } : { hand: letGo(hand), send: event };
}

/** A piece is put on a spot; elsewhere than on its targets it goes back. */
export function drop(scene: Things, hand: Hand, piece: string, spot: string): Done {
  const event = scene.pieces.get(piece)?.drops[spot];
  if (event === undefined) return { hand: letGo(hand) };
  return { hand: { picked: null, put: { piece, spot } }, send: event };
}

export function letGo(hand: Hand): Hand {
  return hand.picked === null ? hand : { ...hand, picked: null };
}

/** The server answered, by a step or a refusal: what was put lies where the scene says. */
export function settled(hand: Hand): Hand {
  return hand.put === null ? hand : { ...hand, put: null };
}

/** The hand after the scene changed: what cannot be moved any more is let go. */
export function keptUp(scene: Things, hand: Hand): Hand {
  const picked = hand.picked === null ? undefined : scene.pieces.get(hand.picked);
  return picked && canMove(picked) ? hand : letGo(hand);
}

/** The spots where a piece may go. */
export function targets(piece: FullPiece): ReadonlySet<string> {
  return new Set(Object.keys(piece.drops));
}

export function canMove(piece: FullPiece): boolean {
  for (const _ in piece.drops) return true;
  return false;
}

export function canAct(piece: FullPiece): boolean {
  return piece.click != null || canMove(piece);
}

/**
 * The piece that a press here is for: in a hand the pressed one and no other, in a tray the pressed one if it can do
 * something, in a pile the uppermost that can.
 */
export function actorAt(scene: Things, at: Pressed): FullPiece | undefined {
  const pressed = at.piece === undefined ? undefined : scene.pieces.get(at.piece);
  const shape = scene.spots.get(at.spot)?.shape;
  if (shape === "hand") return pressed && canAct(pressed) ? pressed : undefined;
  if (pressed && canAct(pressed) && shape === "tray") return pressed;
  return (piles(scene.pieces.values()).get(at.spot) ?? []).findLast(canAct);
}

/** Whether a press here would do something. */
export function isLive(spot: FullSpot, pile: readonly FullPiece[], aims: ReadonlySet<string>): boolean {
  return spot.click != null || aims.has(spot.id) || pile.some(canAct);
}

/** The spot under a point of the board, the uppermost first; of several near a drop the one that takes the piece. */
export function spotAt(scene: Things, x: number, y: number, among?: ReadonlySet<string>): string | undefined {
  const there = [...scene.spots.values()].filter(
    (spot) =>
      spot.label !== "" &&
      (!among || among.has(spot.id)) &&
      x >= spot.x && x <= spot.x + spot.w && y >= spot.y && y <= spot.y + spot.h,
  );
  // The boxes of hexagons overlap: the nearest is meant.
  const far = (spot: FullSpot) => Math.hypot(x - spot.x - spot.w / 2, y - spot.y - spot.h / 2);
  const last = there.at(-1);
  return last?.shape === "hex" ? there.filter(({ shape }) => shape === "hex").sort((a, b) => far(a) - far(b))[0]!.id : last?.id;
}

/** The live spot that a finger missed by a little: none is narrower or lower to it than *least*. */
export function spotNear(scene: Things, x: number, y: number, least: number, live: (spot: FullSpot) => boolean): string | undefined {
  const near = [...scene.spots.values()].flatMap((spot) => {
    const beside = Math.max(spot.x - x, 0, x - spot.x - spot.w);
    const above = Math.max(spot.y - y, 0, y - spot.y - spot.h);
    const reached = beside <= Math.max(0, least - spot.w) / 2 && above <= Math.max(0, least - spot.h) / 2;
    return reached && spot.label !== "" && live(spot) ? [{ id: spot.id, far: Math.hypot(beside, above) }] : [];
  });
  return near.sort((one, other) => one.far - other.far)[0]?.id;
}
