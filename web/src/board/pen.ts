// Strokes as a hand draws them: nearly straight.
import type { Line } from "../wire";

/** How far a stroke bends away from straight, as part of its length. */
const BEND = 0.012;

/** The path of a stroke, at 100 to the unit; each bends in its own way, and always the same. */
export function drawnByHand({ x, y, to_x, to_y }: Line): string {
  const [dx, dy] = [to_x - x, to_y - y];
  const bend = BEND * Math.sin(7 * x + 11 * y + 3 * to_x + 5 * to_y + 1);
  const middle = [(x + to_x) / 2 - dy * bend * 2, (y + to_y) / 2 + dx * bend * 2];
  return `M${at(x, y)}Q${at(middle[0]!, middle[1]!)} ${at(to_x, to_y)}`;
}

function at(x: number, y: number): string {
  return `${Math.round(x * 1000) / 10} ${Math.round(y * 1000) / 10}`;
}
