// Steps and values as one reads them in the panel.
import type { Step, Viewer } from "./calls";

/** The longest value that stands in one line. */
const LINE = 48;

/** What a step was: who did what, with the event as it was sent. */
export function stepWords({ command }: Step, viewers: readonly Viewer[]): string {
  const { do: what, player, ...more } = command;
  const name = viewers.find((viewer) => viewer.player?.id === player)?.player?.name;
  const who = player === undefined ? "" : `${name ?? String(more["name"] ?? player)} `;
  if (what === "act") return `${who}${JSON.stringify(more["event"])}`;
  if (what === "ring") return `timer ${String(more["key"])} ${JSON.stringify(more["event"])}`;
  return `${who}${what}`;
}

/** What a viewer is called. */
export function viewerWords({ seat, player }: Viewer): string {
  if (seat === null) return "Spectator";
  return player === null ? `Seat ${seat}: free` : `Seat ${seat}: ${player.name}${player.bot ? " (a bot)" : ""}`;
}

/** A value in one line; null if it is long and can be unfolded. */
export function inLine(value: unknown): string | null {
  const text = JSON.stringify(value) ?? "null";
  const isPlain = typeof value !== "object" || value === null;
  return isPlain || text.length <= LINE ? text : null;
}

/** What a branch of a tree says when it is folded. */
export function folded(value: object): string {
  return Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`;
}
