// The open rooms, as the lobby tells them: all of them once, then what changes.
import type { ChangedRooms, PublicRoom } from "../wire";

/** The rooms after a change, newest first. */
export function changed(rooms: readonly PublicRoom[], { rooms: different, gone }: ChangedRooms): readonly PublicRoom[] {
  const left = new Set([...gone, ...different.map((room) => room.id)]);
  return [...different, ...rooms.filter((room) => !left.has(room.id))].sort((a, b) => b.created - a.created);
}
