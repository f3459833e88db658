// A scene as the renderer keeps it: things by id, every field there, and the same object as long as nothing changed.
import type { Choice, Clock, Control, Line, Narrow, OwnPage, Patch, Piece, Scene, Side, Spot } from "../wire";

export type FullSpot = Required<Spot>;
export interface FullPiece extends Required<Piece> {
  /** The event of a double click, where a single one picks the piece up instead of sending it. */
  readonly twice?: unknown;
}
export type FullControl = Required<Control>;

export interface Things {
  readonly width: number;
  readonly height: number;
  readonly spots: ReadonlyMap<string, FullSpot>;
  readonly pieces: ReadonlyMap<string, FullPiece>;
  readonly controls: ReadonlyMap<string, FullControl>;
  readonly lines: readonly Line[];
  readonly status: string;
  readonly turn: readonly number[];
  readonly sides: readonly Side[];
  readonly second: string;
  readonly choices: readonly Choice[];
  readonly clocks: readonly Clock[];
  readonly log: readonly string[];
  readonly cue: NonNullable<Scene["cue"]>;
  readonly text: string;
  readonly waiting: boolean;
  readonly narrow: Narrow | null;
  /** Where the game's own pictures are, by the looks that they are. */
  readonly pictures: Readonly<Record<string, string>>;
  readonly page: OwnPage | null;
}

const SPOT = {
  w: 1, h: 1, shape: "square", fill: "paper", text: "", tone: 0, label: "", mark: null, click: null, second: null,
  owner: null, points: [],
} as const;
const PIECE = {
  at: 0, owner: null, text: "", glyph: "", label: "", mark: null, dim: false, via: null, click: null, unless: "", drops: {},
  tone: 0, count: 0,
} as const;
const CONTROL = { event: null, options: [], fields: null, main: false, key: "", confirm: "", auto: "", aside: false } as const;
const OTHERS = { width: 0, height: 0, lines: [], status: "", turn: [], sides: [], second: "", choices: [], clocks: [], log: [], cue: "move", text: "", waiting: false, narrow: null, pictures: {}, page: null } as const;

/** The whole scene. */
export function things(scene: Scene): Things {
  return {
    ...OTHERS,
    ...scene,
    spots: whole<FullSpot>(scene.spots ?? [], SPOT),
    pieces: whole<FullPiece>(scene.pieces ?? [], PIECE),
    controls: whole<FullControl>(scene.controls ?? [], CONTROL),
  };
}

/** The scene for whoever has made these choices: pieces whose click they do not want are picked up instead, and do it by two. */
export function asChosen(scene: Things, isChosen: (choice: string) => boolean): Things {
  const changed = [...scene.pieces.values()].filter(({ unless }) => unless !== "" && isChosen(unless));
  if (!changed.length) return scene;
  const pieces = new Map(scene.pieces);
  for (const piece of changed) pieces.set(piece.id, { ...piece, click: null, twice: piece.click });
  return { ...scene, pieces };
}

/** The scene after a patch. What the patch does not speak of is the very same object as before. */
export function patched(before: Things, patch: Patch): Things {
  const gone = patch.gone ?? [];
  const others = { ...OTHERS, ...before, ...patch.set };
  return {
    ...others,
    log: patch.log ? [...others.log, ...patch.log] : others.log,
    spots: changed(before.spots, patch.spots, gone, SPOT),
    pieces: changed(before.pieces, patch.pieces, gone, PIECE),
    controls: changed(before.controls, patch.controls, gone, CONTROL),
  };
}

function whole<T extends { id: string }>(list: readonly object[], defaults: object): Map<string, T> {
  return new Map(list.map((thing) => [(thing as T).id, { ...defaults, ...thing } as T]));
}

function changed<T extends { id: string }>(
  before: ReadonlyMap<string, T>,
  changes: readonly object[] | undefined,
  gone: readonly string[],
  defaults: object,
): ReadonlyMap<string, T> {
  if (!changes?.length && !gone.some((id) => before.has(id))) return before;
  const after = new Map(before);
  for (const id of gone) after.delete(id);
  for (const change of changes ?? []) {
    const { id } = change as T;
    // In `gone`, too: it is the same thing in a new place of the order, told whole.
    after.set(id, { ...(after.get(id) ?? defaults), ...change } as T);
  }
  return after;
}
