// A room's history as pictures to leaf through: one for each step that changed what was to be seen.
import { patched, things, type Things } from "../board/things";
import { toldApart } from "../room/state";
import type { Player, Result, HistoryStep } from "../wire";

export interface Frame {
  readonly seq: number;
  /** Wall time, in seconds since 1970. */
  readonly at: number;
  readonly scene: Things;
  readonly seats: readonly (Player | null)[];
  readonly names: readonly (string | null)[];
  readonly result: Result | null;
}

/** The frames of these steps; a call's first step tells the whole scene, so that calls can simply be strung together. */
export function frames(steps: readonly HistoryStep[]): Frame[] {
  const found: Frame[] = [];
  let seats: readonly (Player | null)[] = [];
  let result: Result | null = null;
  let scene: Things | null = null;
  for (const step of steps) {
    seats = step.seats ? toldApart(step.seats) : seats;
    if (step.result !== undefined) result = step.result;
    const before: Things | null = scene;
    if (step.scene) scene = things(step.scene);
    else if (step.patch && scene) scene = patched(scene, step.patch);
    if (!scene) continue;
    const names = seats.map((player) => player?.name ?? null);
    const frame = { seq: step.seq, at: step.at, scene, seats, names, result };
    // A step in which nothing was to be seen, or the first of a call, which tells what is known: no new picture.
    if (found.length && (before === scene || same(before, scene))) found[found.length - 1] = { ...frame, scene: before! };
    else found.push(frame);
  }
  return found;
}

function same(before: Things | null, after: Things): boolean {
  return before !== null && JSON.stringify(plain(before)) === JSON.stringify(plain(after));
}

function plain(scene: Things): unknown {
  return {
    ...scene,
    spots: [...scene.spots.values()],
    pieces: [...scene.pieces.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    controls: [...scene.controls.values()],
  };
}

/** The first frame of the game that ended with step *seq*: a room with rematches has several. */
export function firstOf(frames: readonly Frame[], seq: number): number {
  let at = frames.findIndex((frame) => frame.seq >= seq);
  while (at > 0 && frames[at - 1]!.result === null) at -= 1;
  return Math.max(0, at);
}
