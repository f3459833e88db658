// A board seen from the other side: every spot where it would be if one walked around the table.
import type { Line } from "../wire";
import type { FullSpot, Things } from "./things";

const turnedSpots = new WeakMap<FullSpot, FullSpot>();
const turnedScenes = new WeakMap<ReadonlyMap<string, FullSpot>, ReadonlyMap<string, FullSpot>>();

/** The scene turned around; what did not change is the very same object as the last time. */
export function flipped(scene: Things): Things {
  let spots = turnedScenes.get(scene.spots);
  if (!spots) {
    spots = new Map([...scene.spots].map(([id, spot]) => [id, turned(spot, scene)]));
    turnedScenes.set(scene.spots, spots);
  }
  return { ...scene, spots, lines: scene.lines.map((line) => turnedLine(line, scene)) };
}

function turnedLine(line: Line, { width, height }: Things): Line {
  return { ...line, x: width - line.x, y: height - line.y, to_x: width - line.to_x, to_y: height - line.to_y };
}

function turned(spot: FullSpot, { width, height }: Things): FullSpot {
  const before = turnedSpots.get(spot);
  if (before) return before;
  const shape = spot.shape === "up" ? "down" : spot.shape === "down" ? "up" : spot.shape;
  const after = { ...spot, x: width - spot.x - spot.w, y: height - spot.y - spot.h, shape, points: spot.points.map(([x, y]) => [width - x, height - y] as [number, number]) } as const;
  turnedSpots.set(spot, after);
  return after;
}
