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
  hearts: { fill: "M0 18C-23 1 -20 -17 -9.5 -17C-4 -17 -1 -13 0 -9C1 -13 4 -17 9.5 -17C20 -17 23 1 0 18Z" },
  diamonds: { fill: "M0 -19C4 -10 9 -4 15 0C9 4 4 10 0 19C-4 10 -9 4 -15 0C-9 -4 -4 -10 0 -19Z" },
  spades: { fill: "M0 -19C4 -10 18 -3 18 6.5C18 14 8 16 2.5 9.5C3 13.5 5 17 8 18H-8C-5 17 -3 13.5 -2.5 9.5C-8 16 -18 14 -18 6.5C-18 -3 -4 -10 0 -19Z" },
  clubs: { fill: "M0 -18.5A8.3 8.3 0 0 1 6.6 -5.2A8.4 8.4 0 1 1 2.5 8.2C3 13 5 17 8 18H-8C-5 17 -3 13 -2.5 8.2A8.4 8.4 0 1 1 -6.6 -5.2A8.3 8.3 0 0 1 0 -18.5Z" },
};

/** What tells owners apart besides their colour, in a box from -20 to 20; filled by the rule of even and odd. */
export const MARKS: readonly string[] = [
  "M-16 0a16 16 0 1 0 32 0a16 16 0 1 0 -32 0ZM-8.5 0a8.5 8.5 0 1 0 17 0a8.5 8.5 0 1 0 -17 0Z",
  "M0 -18L18 14H-18Z",
  "M-14 -14H14V14H-14Z",
  "M-5.5 -18H5.5V-5.5H18V5.5H5.5V18H-5.5V5.5H-18V-5.5H-5.5Z",
  "M0 -20L15 0L0 20L-15 0Z",
  star(0, 1, 20),
  "M-14 -17H-4V17H-14ZM4 -17H14V17H4Z",
  "M-18 5L0 -13L18 5V17L0 -1L-18 17Z",
];

/** The class of an owner's colours; nobody's has one, too. */
export function ownerClass(owner: number | null): string {
  return owner === null ? "nobody" : `o${owner % MARKS.length}`;
}

export function markOf(owner: number | null): string | undefined {
  return owner === null ? undefined : MARKS[owner % MARKS.length];
}

/** Where the pips of a die lie, in thirds. */
export const PIPS: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  1: [[0, 0]],
  2: [[-1, -1], [1, 1]],
  3: [[-1, -1], [0, 0], [1, 1]],
  4: [[-1, -1], [1, -1], [-1, 1], [1, 1]],
  5: [[-1, -1], [1, -1], [0, 0], [-1, 1], [1, 1]],
  6: [[-1, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [1, 1]],
};
