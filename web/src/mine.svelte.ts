// The rooms in which I have a seat, and how many of them wait for me. The server knows; the page asks now and then.
import * as api from "./api";
import { t } from "./language/language.svelte";
import { me } from "./me.svelte";
import type { MyRoom } from "./wire";

const EVERY = 20_000;
/** While nobody looks: the title and the icon of the tab still tell. */
const HIDDEN = 60_000;
const SOON = 2_000;

class Mine {
  /** Those that wait for me come first, those that are over last; null before the server was asked. */
  rooms: readonly MyRoom[] | null = $state.raw(null);
  readonly waiting = $derived((this.rooms ?? []).filter((room) => room.waits_for_you));
  /** Those whose game is not over. */
  readonly running = $derived((this.rooms ?? []).filter((room) => room.status !== "over"));
  #asked = -Infinity;

  /** Ask; whoever is not known to the server yet has no seats. */
  look(): void {
    if (!me.player) return;
    this.#asked = performance.now();
    api.myRooms().then((rooms) => (this.rooms = sorted(rooms)), () => undefined);
  }

  /** Something may be different: ask, unless that was just done. */
  lookAgain(): void {
    if (performance.now() - this.#asked > SOON) this.look();
  }

  /** Before the title of a page: how many games wait for me. */
  get mark(): string {
    const count = this.waiting.length;
    return count ? `● ${count === 1 ? t("Your turn") : t("Your move in {count} games", count)} · ` : "";
  }

  /** Keep asking, less often while nobody looks; gives the way to stop. */
  follow(): () => void {
    const look = () => (document.hidden && performance.now() - this.#asked < HIDDEN) || this.look();
    const timer = setInterval(look, EVERY);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }
}

export const mine = new Mine();

function sorted(rooms: readonly MyRoom[]): readonly MyRoom[] {
  const last = (room: MyRoom) => (room.waits_for_you ? 0 : room.status === "over" ? 2 : 1);
  return [...rooms].sort((a, b) => last(a) - last(b));
}
