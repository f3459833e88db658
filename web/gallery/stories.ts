// The boards of tests/scenes, which Python writes and the tests there keep true.
import { patched, things, type Things } from "../src/board/things";
import type { Patch, Scene } from "../src/wire";

export interface Moment {
  title: string;
  scene?: Scene;
  patch?: Patch;
}

const found = import.meta.glob<Moment[]>("../../tests/scenes/*.json", { eager: true, import: "default" });

export const STORIES: ReadonlyMap<string, Moment[]> = new Map(
  Object.entries(found).map(([path, story]) => [path.replace(/^.*\/|\.json$/g, ""), story]),
);

/** What is on the board at each moment of a story. */
export function told(story: readonly Moment[]): Things[] {
  const scenes: Things[] = [];
  for (const { scene, patch } of story) {
    const before = scenes.at(-1);
    scenes.push(before && patch ? patched(before, patch) : things(scene ?? {}));
  }
  return scenes;
}
