// The outlines of spots that are no rectangles, as SVG paths at 100 to the unit.
import type { FullSpot } from "./things";

type Box = Pick<FullSpot, "x" | "y" | "w" | "h">;

/** A hexagon that fills its box: on a corner where it is higher than wide, on a side otherwise. */
export function hexagon({ x, y, w, h }: Box): string {
  const at = (across: number, down: number) => `${round(x + w * across)} ${round(y + h * down)}`;
  const corners = h >= w
    ? [at(0.5, 0), at(1, 0.25), at(1, 0.75), at(0.5, 1), at(0, 0.75), at(0, 0.25)]
    : [at(0, 0.5), at(0.25, 0), at(0.75, 0), at(1, 0.5), at(0.75, 1), at(0.25, 1)];
  return `M${corners.join("L")}Z`;
}

export function corners(points: FullSpot["points"]): string {
  return `M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L")}Z`;
}

/** The way through some points: straight between two, a gentle curve through more. */
export function way(points: FullSpot["points"]): string {
  const at = ([x, y]: readonly [number, number]) => `${round(x)} ${round(y)}`;
  if (points.length < 3) return `M${points.map(at).join("L")}`;
  const parts = points.slice(1).map((to, number) => {
    const from = points[number]!;
    const [before, after] = [points[number - 1] ?? from, points[number + 2] ?? to];
    const one = [from[0] + (to[0] - before[0]) / 6, from[1] + (to[1] - before[1]) / 6] as const;
    const two = [to[0] - (after[0] - from[0]) / 6, to[1] - (after[1] - from[1]) / 6] as const;
    return `C${at(one)} ${at(two)} ${at(to)}`;
  });
  return `M${at(points[0]!)}${parts.join("")}`;
}

/** Places along a way, about so far apart and in the middle of what is left: for the marks of its owner. */
export function along(points: FullSpot["points"], apart: number): { x: number; y: number }[] {
  return points.slice(1).flatMap(([x, y], number) => {
    const [from, to] = points[number]!;
    const count = Math.max(1, Math.floor(Math.hypot(x - from, y - to) / apart) - 1);
    return Array.from({ length: count }, (_, at) => {
      const part = (at + 1) / (count + 1);
      return { x: round(from + (x - from) * part), y: round(to + (y - to) * part) };
    });
  });
}

function round(units: number): number {
  return Math.round(units * 1000) / 10;
}
