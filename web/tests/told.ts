// Scenes for tests, drawn by hand or read from the stories of tests/scenes.
import { STORIES as BY_NAME, told, type Moment } from "../gallery/stories";
import { things, type Things } from "../src/board/things";
import type { Piece, Spot } from "../src/wire";

export const STORIES = [...BY_NAME.keys()];

export function story(name: string): Moment[] {
  const found = BY_NAME.get(name);
  if (!found) throw new Error(`expected one of ${STORIES.join(", ")}, got ${name}`);
  return found;
}

/** What is on the board at each moment of a story. */
export function scenes(name: string): Things[] {
  return told(story(name));
}

/** A row of squares a, b, c... with these pieces. */
export function row(count: number, pieces: Piece[] = [], more: Partial<Record<string, Partial<Spot>>> = {}): Things {
  const spots = Array.from({ length: count }, (_, at) => {
    const id = "abcdefgh"[at]!;
    return { id, x: at, y: 0, label: id, ...more[id] };
  });
  return things({ width: count, height: 1, spots, pieces });
}
