// What somebody wants of a room that they go to: to sit, or to watch. A reload does not ask again.
import { framedFor } from "../framed";
import { passing } from "../storage";

const sit = (room: string) => `sit:${room}`;
const watch = (room: string) => `watch:${room}`;

export function sitDown(room: string): void {
  passing.removeItem(watch(room));
  passing.setItem(sit(room), "yes");
}

export function onlyWatch(room: string): void {
  passing.removeItem(sit(room));
  passing.setItem(watch(room), "yes");
}

export function forget(room: string): void {
  passing.removeItem(sit(room));
  passing.removeItem(watch(room));
}

export function intentOf(room: string): "sit" | "watch" | null {
  if (framedFor !== null) return "watch"; // whoever is to play there has a seat
  if (passing.getItem(sit(room))) return "sit";
  return passing.getItem(watch(room)) ? "watch" : null;
}
