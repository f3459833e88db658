// What somebody wants of a room that they go to: to sit, or to watch. A reload does not ask again.

const sit = (room: string) => `sit:${room}`;
const watch = (room: string) => `watch:${room}`;

export function sitDown(room: string): void {
  sessionStorage.removeItem(watch(room));
  sessionStorage.setItem(sit(room), "yes");
}

export function onlyWatch(room: string): void {
  sessionStorage.removeItem(sit(room));
  sessionStorage.setItem(watch(room), "yes");
}

export function forget(room: string): void {
  sessionStorage.removeItem(sit(room));
  sessionStorage.removeItem(watch(room));
}

export function intentOf(room: string): "sit" | "watch" | null {
  if (sessionStorage.getItem(sit(room))) return "sit";
  return sessionStorage.getItem(watch(room)) ? "watch" : null;
}
