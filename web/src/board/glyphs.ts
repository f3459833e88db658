// Small emblems of pieces, in a box from -20 to 20, drawn with one colour.

export interface Glyph {
  readonly stroke?: string;
  readonly fill?: string;
}

function star(x: number, y: number, r: number): string {
  const points = Array.from({ length: 10 }, (_, n) => {
    const [length, angle] = [n % 2 ? r * 0.42 : r, (Math.PI * n) / 5 - Math.PI / 2];
    return `${(x + length * Math.cos(angle)).toFixed(1)} ${(y + length * Math.sin(angle)).toFixed(1)}`;
  });
  return `M${points.join("L")}Z`;
}

const chevron = (y: number) => `M-13 ${y}L0 ${y + 9}L13 ${y}`;
const bar = (y: number) => `M-13 ${y}H13`;

export const GLYPHS: Readonly<Record<string, Glyph>> = {
  marshal: { fill: star(0, -1, 11), stroke: "M-12 -14C-24 -4 -22 12 -6 18M12 -14C24 -4 22 12 6 18" },
  general: { fill: star(-12, 6, 9) + star(12, 6, 9) + star(0, -10, 9) },
  colonel: { fill: star(-10, 0, 10) + star(10, 0, 10) },
  major: { fill: star(0, 0, 14) },
  captain: { stroke: bar(-11) + bar(0) + bar(11) },
  lieutenant: { stroke: bar(-6) + bar(6) },
  sergeant: { stroke: chevron(-16) + chevron(-6) + chevron(4) },
  miner: { stroke: "M-14 16L9 -9M-8 -16C4 -18 16 -8 17 6" },
  scout: { stroke: "M-16 10L4 -2M4 -8L10 4M5 -5L15 -11M15 -17L19 -5M-6 6L-10 18M-6 6L0 18" },
  spy: { stroke: "M-18 0C-9 -12 9 -12 18 0C9 12 -9 12 -18 0Z", fill: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z" },
  bomb: { fill: "M-13 5a13 13 0 1 0 26 0a13 13 0 1 0 -26 0Z", stroke: "M7 -6L13 -13C16 -17 19 -13 19 -10" },
  flag: { stroke: "M-11 18V-17", fill: "M-11 -17L15 -9L-11 1Z" },
};

/** Where the pips of a die lie, in thirds. */
export const PIPS: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  1: [[0, 0]],
  2: [[-1, -1], [1, 1]],
  3: [[-1, -1], [0, 0], [1, 1]],
  4: [[-1, -1], [1, -1], [-1, 1], [1, 1]],
  5: [[-1, -1], [1, -1], [0, 0], [-1, 1], [1, 1]],
  6: [[-1, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [1, 1]],
};
