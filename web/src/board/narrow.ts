// The layout of a board on a screen that is higher than wide: other places for the same spots.
import type { FullSpot, Things } from "./things";

/** A screen on which a scene's narrow layout is used; the page's own layout changes there, too. */
export const UPRIGHT = "(max-width: 56rem) and (orientation: portrait)";

const movedSpots = new WeakMap<FullSpot, FullSpot>();
const movedScenes = new WeakMap<ReadonlyMap<string, FullSpot>, ReadonlyMap<string, FullSpot>>();

/** The scene in its narrow layout, if it has one; what did not change is the very same object as the last time. */
export function narrowed(scene: Things): Things {
  if (!scene.narrow) return scene;
  const { width, height, places = {} } = scene.narrow;
  let spots = movedScenes.get(scene.spots);
  if (!spots) {
    spots = new Map([...scene.spots].map(([id, spot]) => [id, moved(spot, places[id])]));
    movedScenes.set(scene.spots, spots);
  }
  return { ...scene, width, height, spots };
}

function moved(spot: FullSpot, place: readonly [number, number, number, number] | undefined): FullSpot {
  if (!place) return spot;
  const before = movedSpots.get(spot);
  if (before) return before;
  const [x, y, w, h] = place;
  const along = (at: number, from: number, length: number, to: number, room: number) => to + (length ? ((at - from) / length) * room : 0);
  const points = spot.points.map(([px, py]) => [along(px, spot.x, spot.w, x, w), along(py, spot.y, spot.h, y, h)] as [number, number]);
  const after = { ...spot, x, y, w, h, points };
  movedSpots.set(spot, after);
  return after;
}
