// What players are called. People, and bots over the network, by the name that they gave themselves; the server's own bots
// by their kind, in the reader's language.
import { titled } from "./form";
import { t, translated } from "./language/language.svelte";
import type { Player } from "./wire";

/** The ids of the server's own bots: `bot:casual:2`. */
const OWN = /^bot:([^:]+)(?::(\d+))?$/;

/** A player as they are called here; a bot for whose kind the language has no word as the server calls it. */
export function called<One extends { readonly id: string; readonly name: string }>(player: One): One {
  const [, kind, number] = OWN.exec(player.id) ?? [];
  const name = kind === undefined ? null : kindOfBot(kind);
  return name === null ? player : { ...player, name: number === undefined ? name : `${name} ${number}` };
}

/** The players as they are called here, by names that tell them apart: of two of one name, the later has a number. */
export function toldApart(seats: readonly (Player | null)[]): (Player | null)[] {
  const taken = new Set<string>();
  return seats.map((sitting) => {
    if (!sitting) return null;
    const seat = called(sitting);
    let name = seat.name;
    for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${seat.name} ${number}`;
    taken.add(name.toLowerCase());
    return name === seat.name ? seat : { ...seat, name };
  });
}

/** The server's names of its own bots, and what they are called here: for names that come without an id. */
export function botNames(kinds: readonly string[]): Record<string, string> {
  return Object.fromEntries(kinds.flatMap((kind) => {
    const name = kindOfBot(kind);
    return name === null ? [] : [[`${titled(kind)} bot`, name]];
  }));
}

/** A bot of this kind, where the language has a word for it. */
function kindOfBot(kind: string): string | null {
  const word = translated(titled(kind));
  return word === null ? null : t("{kind} bot", word);
}
