// The open rooms, as the lobby tells them: all of them once, then what changes.
import type { ChangedRooms, RoomSheet } from "../wire";

/** The rooms after a change, newest first. */
export function changed(rooms: readonly RoomSheet[], { rooms: different, gone }: ChangedRooms): readonly RoomSheet[] {
  const left = new Set([...gone, ...different.map((room) => room.id)]);
  return [...different, ...rooms.filter((room) => !left.has(room.id))].sort((a, b) => b.created - a.created);
}
