// Pieces in motion: 180 ms from place to place, and a second on the way where a fight is shown.
import type { Place } from "./places";

const GLIDE = 180;
const SHOW = 1000;

/** Nothing moves: the device says so, or the player's settings. */
export function reducedMotion(): boolean {
  return document.documentElement.dataset["animation"] === "none" || matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** How long a motion takes that usually takes so long. */
function paced(milliseconds: number): number {
  return document.documentElement.dataset["animation"] === "fast" ? milliseconds / 2 : milliseconds;
}

export function transformOf({ x, y, size, turn = 0 }: Pick<Place, "x" | "y" | "size" | "turn">, unit = ""): string {
  const round = (n: number) => Math.round(n * 1000) / 10;
  const comma = unit ? ", " : " ";
  const turned = turn ? ` rotate(${Math.round(turn * 10) / 10}${unit && "deg"})` : "";
  return `translate(${round(x)}${unit}${comma}${round(y)}${unit})${turned} scale(${size})`;
}

/**
 * Move an element from where it was to where it is now, by way of *via*; from where it is seen if *latest* still moves it.
 *
 * Only then is the style looked at: that makes the browser bring the whole page up to date, for each of 13 cards.
 */
export function glide(element: SVGElement, from: Place, to: Place, via: Place | null, latest: Animation | null): Animation | null {
  const still = reducedMotion();
  if (still && !via) return null;
  const start = latest?.playState === "running" ? getComputedStyle(element).transform : transformOf(from, "px");
  latest?.cancel();
  const end = transformOf(to, "px");
  if (!via) return element.animate([{ transform: start }, { transform: end }], { duration: paced(GLIDE), easing: "ease-out" });
  const there = transformOf(via, "px");
  const total = GLIDE + SHOW + GLIDE;
  const easing = still ? "step-start" : "ease-out";
  return element.animate(
    [
      { transform: still ? there : start, easing },
      { transform: there, offset: GLIDE / total, easing: "linear" },
      { transform: there, offset: (GLIDE + SHOW) / total, easing },
      { transform: end },
    ],
    { duration: paced(total) },
  );
}

/** A die tumbles once when it is rolled. */
export function tumble(element: SVGElement): void {
  if (reducedMotion()) return;
  element.animate(
    [{ transform: "rotate(-200deg) scale(0.7)" }, { transform: "rotate(0deg) scale(1)" }],
    { duration: paced(360), easing: "cubic-bezier(0.2, 0.7, 0.3, 1)" },
  );
}
