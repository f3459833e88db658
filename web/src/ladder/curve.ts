// A rating over time as a line: where its points lie in a picture of a given size.

export interface Curve {
  /** The line, as the path of an SVG. */
  readonly line: string;
  /** The same closed below, to be filled. */
  readonly area: string;
  readonly end: { readonly x: number; readonly y: number };
  readonly lowest: number;
  readonly highest: number;
}

/** The least that the whole height stands for, so that small changes look small. */
const SPAN = 100;

/** The curve of some ratings, the oldest first; null where there are too few for a line. */
export function curveOf(ratings: readonly number[], width: number, height: number): Curve | null {
  if (ratings.length < 2) return null;
  const [lowest, highest] = [Math.min(...ratings), Math.max(...ratings)];
  const spare = Math.max(0, SPAN - (highest - lowest)) / 2;
  const [bottom, top] = [lowest - spare, highest + spare];
  const points = ratings.map((rating, n) => ({
    x: tenth((n / (ratings.length - 1)) * width),
    y: tenth(height - ((rating - bottom) / (top - bottom)) * height),
  }));
  const line = `M${points.map(({ x, y }) => `${x} ${y}`).join("L")}`;
  return { line, area: `${line}V${height}H0Z`, end: points.at(-1)!, lowest, highest };
}

function tenth(length: number): number {
  return Math.round(length * 10) / 10;
}

/** Where a rating and its bounds lie on a scale that all of a ladder share, from 0 to 1. */
export function onScale(
  rated: readonly { rating: number; deviation: number }[],
): readonly { at: number; from: number; to: number }[] {
  const bounds = rated.map(({ rating, deviation }) => [rating - 2 * deviation, rating + 2 * deviation] as const);
  const least = Math.min(...bounds.map(([low]) => low));
  const span = Math.max(1, Math.max(...bounds.map(([, high]) => high)) - least);
  return rated.map(({ rating }, n) => ({
    at: (rating - least) / span,
    from: (bounds[n]![0] - least) / span,
    to: (bounds[n]![1] - least) / span,
  }));
}
