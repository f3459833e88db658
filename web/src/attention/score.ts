// The sounds of the page as they are written down: wood on wood, and a few notes of a small bell. They were written for
// Parlour and are made by the browser's own oscillators: no recording is in them, and they are under Parlour's licence.
import type { Sound } from "./cues";

export interface Note {
  /** Seconds after the beginning. */
  readonly at: number;
  readonly kind: "knock" | "bell";
  readonly hertz: number;
  /** From 0 to 1. */
  readonly loud: number;
  /** Seconds until it has died away. */
  readonly long: number;
}

const knock = (at: number, hertz: number, loud: number, long = 0.09): Note => ({ at, kind: "knock", hertz, loud, long });
const bell = (at: number, hertz: number, loud: number, long = 0.5): Note => ({ at, kind: "bell", hertz, loud, long });

const [C4, E4, G4, A4, C5, E5, G5, C6] = [262, 330, 392, 440, 523, 659, 784, 1047] as const;

export const SCORE: Readonly<Record<Sound, readonly Note[]>> = {
  move: [knock(0, 330, 0.5)],
  capture: [knock(0, 210, 0.7, 0.13), knock(0.07, 330, 0.4)],
  deal: [knock(0, 620, 0.25, 0.05), knock(0.06, 540, 0.3, 0.05), knock(0.13, 660, 0.25, 0.05), knock(0.22, 480, 0.35, 0.07)],
  check: [bell(0, A4, 0.3), bell(0.12, E5, 0.3)],
  win: [bell(0, C5, 0.3), bell(0.11, E5, 0.3), bell(0.22, G5, 0.3), bell(0.33, C6, 0.35, 0.9)],
  lose: [bell(0, G4, 0.3), bell(0.16, E4, 0.28), bell(0.32, C4, 0.3, 0.8)],
  turn: [bell(0, G5, 0.3), bell(0.14, C6, 0.3, 0.6)],
  low: [knock(0, 900, 0.35, 0.05), knock(0.18, 900, 0.35, 0.05)],
};
