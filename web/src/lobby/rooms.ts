// The open rooms, as the lobby tells them: all of them once, then what changes.
import { listed, t } from "../language/language.svelte";
import { toldApart } from "../players";
import type { ChangedRooms, PublicRoom } from "../wire";

/** The rooms after a change, newest first. */
export function changed(rooms: readonly PublicRoom[], { rooms: different, gone }: ChangedRooms): readonly PublicRoom[] {
  const left = new Set([...gone, ...different.map((room) => room.id)]);
  return [...different, ...rooms.filter((room) => !left.has(room.id))].sort((a, b) => b.created - a.created);
}

/** Rooms that wait for a player, that people play in, that people play in with bots. */
export type Kind = "waiting" | "playing" | "bots";

export function kindOf({ status, seats }: PublicRoom): Kind {
  if (status === "waiting") return "waiting";
  return seats.some((seat) => seat?.bot) ? "bots" : "playing";
}

const isOver = ({ status }: PublicRoom) => Number(status === "over");
const overLast = (rooms: readonly PublicRoom[]) => [...rooms].sort((a, b) => isOver(a) - isOver(b));

export const byKind = (rooms: readonly PublicRoom[]): Readonly<Record<Kind, readonly PublicRoom[]>> => ({
  waiting: rooms.filter((room) => kindOf(room) === "waiting"),
  playing: overLast(rooms.filter((room) => kindOf(room) === "playing")),
  bots: overLast(rooms.filter((room) => kindOf(room) === "bots")),
});

/** Who sits in a room; whoever is left out (oneself, say) by their id does not count. */
export function who({ seats }: PublicRoom, without?: string): string {
  const names = toldApart(seats).flatMap((seat) => (seat && seat.id !== without ? [seat.name] : []));
  return names.length ? listed(names) : t("Nobody yet");
}

/** What waits for me in a room, in a sentence. */
export function turnWords(room: PublicRoom, title: string, me?: string): string {
  const others = room.seats.filter((seat) => seat && seat.id !== me).length;
  if (!others) return t("{game} waits for you", title);
  return others === 1 ? t("Your turn at {game}: {names} waits", title, who(room, me)) : t("Your turn at {game}: {names} wait", title, who(room, me));
}

/** What is played, how it stands, who looks on: small facts for a list. */
export function facts(room: PublicRoom, title: string): string[] {
  const { score, spectators, ranked } = room;
  const watched = spectators === 1 ? t("1 person watches") : spectators > 1 ? t("{count} people watch", spectators) : "";
  return [title, score.length ? score.join("\u2009:\u2009") : "", ranked ? t("ranked") : "", watched].filter(Boolean);
}
