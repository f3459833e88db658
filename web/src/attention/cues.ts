// What is worth a sound, and when a turn begins: from a room before and after. No sound is made here.
import type { FullPiece, FullSpot, Things } from "../board/things";
import type { RoomState } from "../room/state";

/** What a scene may say, and what the page knows by itself. */
export type Sound = "move" | "capture" | "deal" | "check" | "win" | "lose" | "turn" | "low";

/** The sound of what happened between the two; null for nothing that can be seen. */
export function soundOf(before: RoomState, after: RoomState): Sound | null {
  if (!before.scene || !after.scene || before.seq === null || after.seq === null || after.seq <= before.seq) return null;
  if (!before.result && after.result) {
    const { won = [], lost = [] } = after.result.outcome;
    if (after.player !== null && lost.includes(after.player)) return "lose";
    return won.length ? "win" : "check";
  }
  return looksOther(before.scene, after.scene) ? after.scene.cue || null : null;
}

/** It was not my turn, and now it is. */
export function turnBegins(before: RoomState, after: RoomState): boolean {
  return before.scene !== null && !isMyTurn(before) && isMyTurn(after);
}

export function isMyTurn({ seat, scene, result, ended }: RoomState): boolean {
  return seat !== null && ended === null && !result && (scene?.turn.includes(seat) ?? false);
}

/** Whether something on the board is seen otherwise; what can be pressed does not count. */
function looksOther(before: Things, after: Things): boolean {
  return (
    differs(before.pieces, after.pieces, (one: FullPiece) => [one.spot, one.look, one.text, one.owner, one.glyph, one.dim]) ||
    differs(before.spots, after.spots, (one: FullSpot) => [one.fill, one.text, one.shape]) ||
    before.text !== after.text
  );
}

function differs<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>, seen: (one: T) => readonly unknown[]): boolean {
  if (before === after) return false;
  if (before.size !== after.size) return true;
  for (const [id, now] of after) {
    const then = before.get(id);
    if (then === now) continue;
    if (then === undefined || String(seen(then)) !== String(seen(now))) return true;
  }
  return false;
}
