// How a scene lies on this screen: in its narrow layout where that is upright, and turned around for whoever likes it so.
import { MediaQuery } from "svelte/reactivity";
import { settings } from "../settings.svelte";
import { flipped } from "./flip";
import { UPRIGHT, narrowed } from "./narrow";
import type { Things } from "./things";

const upright = new MediaQuery(UPRIGHT);

export function laidOut(scene: Things): Things {
  const placed = upright.current ? narrowed(scene) : scene;
  return settings.now.flip ? flipped(placed) : placed;
}
