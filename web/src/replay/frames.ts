// A room's history as pictures to leaf through: one for each step that changed what was to be seen, and the turns among them.
import { patched, things, type Things } from "../board/things";
import { t } from "../language/language.svelte";
import { toldApart } from "../players";
import type { Player, Result, HistoryStep, Side } from "../wire";

export interface Frame {
  /** The last step after which it looked like this. */
  readonly seq: number;
  /** Wall time, in seconds since 1970. */
  readonly at: number;
  readonly scene: Things;
  /** Who sat where, as they are called in the language of now. */
  readonly seats: readonly (Player | null)[];
  readonly names: readonly (string | null)[];
  readonly result: Result | null;
}

/** A line of the list of moves: what the game wrote down of one turn, and who sat where then. */
export interface Turn {
  readonly text: string;
  readonly seats: readonly (Player | null)[];
  readonly sides: readonly Side[];
  /** The frame in which it was done. */
  readonly frame: number;
}

/** The frames of a history that is read part by part: no step is gone through twice. */
export class Frames {
  list: readonly Frame[] = [];
  #seats: readonly (Player | null)[] = [];
  #result: Result | null = null;
  #scene: Things | null = null;

  /** Go on with these steps; a call's first step tells the whole scene, so that calls can simply be strung together. */
  add(steps: readonly HistoryStep[]): void {
    const found = [...this.list];
    for (const step of steps) this.#go(step, found);
    this.list = found;
  }

  #go(step: HistoryStep, found: Frame[]): void {
    if (step.seats) this.#seats = step.seats;
    if (step.result !== undefined) this.#result = step.result;
    const before = this.#scene;
    const scene = step.scene ? things(step.scene) : step.patch && before ? patched(before, step.patch) : before;
    if (!scene) return;
    this.#scene = scene;
    // A step in which nothing was to be seen, or the first of a call, which tells what is known: no new picture.
    const isSeen = !found.length || (before !== scene && !(step.scene && same(before, scene)));
    const frame = pictured(step, isSeen ? scene : before!, this.#seats, this.#result);
    if (isSeen) found.push(frame);
    else found[found.length - 1] = frame;
  }
}

/** A frame; what its players are called is asked anew each time, since a language may come later than a history. */
function pictured({ seq, at }: HistoryStep, scene: Things, sat: readonly (Player | null)[], result: Result | null): Frame {
  return {
    seq, at, scene, result,
    get seats() { return toldApart(sat); },
    get names() { return toldApart(sat).map((player) => player?.name ?? null); },
  };
}

/** The frames of these steps. */
export function frames(steps: readonly HistoryStep[]): readonly Frame[] {
  const all = new Frames();
  all.add(steps);
  return all.list;
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

/** The seat that somebody had in a frame; null: they watched. */
export function seatOf(frame: Frame | undefined, player: string | undefined): number | null {
  const seat = player === undefined ? -1 : (frame?.seats.findIndex((one) => one?.id === player) ?? -1);
  return seat < 0 ? null : seat;
}

/** The first frame of the game that ended with step *seq*: a room with rematches has several. */
export function firstOf(frames: readonly Frame[], seq: number): number {
  let at = frames.findIndex((frame) => frame.seq >= seq);
  while (at > 0 && frames[at - 1]!.result === null) at -= 1;
  return Math.max(0, at);
}

/** The frame of a step; undefined where there is no such step. */
export function frameAt(frames: readonly Frame[], seq: number): number | undefined {
  const at = frames.findIndex((frame) => frame.seq >= seq);
  return at < 0 ? undefined : at;
}

/** The turns of these frames as the games wrote them down; of a game that writes nothing down, every frame. */
export function turns(frames: readonly Frame[]): Turn[] {
  const found: Turn[] = [];
  frames.forEach(({ scene, seats }, frame) => {
    const before = frames[frame - 1]?.scene.log ?? [];
    const fresh = goesOn(before, scene.log) ? scene.log.slice(before.length) : scene.log;
    for (const text of fresh) found.push({ text, seats, sides: scene.sides, frame });
  });
  if (found.length) return found;
  return frames.map(({ seq, seats, scene }, frame) => ({ text: t("Step {number}", String(seq)), seats, sides: scene.sides, frame }));
}

/** The turn that a frame shows, or that came before it; -1 before the first. */
export function turnAt(turns: readonly Turn[], frame: number): number {
  return turns.findLastIndex((turn) => turn.frame <= frame);
}

/** The frames of the game whose log this is: the last ones before it began anew. */
export function gameOf(frames: readonly Frame[], log: readonly string[]): readonly Frame[] {
  const other = frames.findLastIndex(({ scene }) => !goesOn(scene.log, log));
  return frames.slice(other + 1);
}

/** Whether the one log begins with the other. */
function goesOn(before: readonly string[], after: readonly string[]): boolean {
  return before.length <= after.length && before.every((line, n) => line === after[n]);
}
