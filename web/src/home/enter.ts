// Going to a room from a list: to sit there, or to watch.
import { here } from "../here.svelte";
import { onlyWatch, sitDown } from "../room/intent";
import { roomPath } from "../routes";

export function enterRoom(room: string, watch = false): void {
  (watch ? onlyWatch : sitDown)(room);
  here.go(roomPath(room));
}
