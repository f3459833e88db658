// A bot's advice, found on the board: which spots it speaks of, and what to say.
import { written } from "../board/hand";
import type { FullSpot, Things } from "../board/things";
import { t, told } from "../language/language.svelte";

export interface Advice {
  /** What to show on the board. */
  readonly spots: readonly string[];
  readonly text: string;
}

/** Where on this scene an event can be sent from; no spots where it is beside the board, or nowhere. */
export function adviceOf(scene: Things, event: unknown): Advice {
  if (event == null) return { spots: [], text: t("There is nothing to do just now.") };
  const wanted = written(event);
  for (const spot of scene.spots.values()) {
    if (written(spot.click) === wanted) return { spots: [spot.id], text: t("Try {place}", called(spot)) };
    if (written(spot.second) === wanted) return { spots: [spot.id], text: t("Try a right click or a long press on {place}", called(spot)) };
  }
  for (const piece of scene.pieces.values()) {
    const from = scene.spots.get(piece.spot);
    for (const [target, drop] of Object.entries(piece.drops)) {
      if (written(drop) !== wanted) continue;
      return { spots: [piece.spot, target], text: t("Try {place} to {target}", called(from), called(scene.spots.get(target))) };
    }
    if (written(piece.click) === wanted) return { spots: [piece.spot], text: t("Try {place}", called(from)) };
  }
  for (const control of scene.controls.values()) {
    if (written(control.event) === wanted) return { spots: [], text: t("Try “{button}”", told(control.text)) };
  }
  return { spots: [], text: t("What the bot would do cannot be shown on this board.") };
}

/** What a spot is called, without what stands there. */
function called(spot: FullSpot | undefined): string {
  return told(spot?.label.split(":")[0] ?? "") || t("this");
}
