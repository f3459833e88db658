// What a game's own board page and the room say to each other, and how much of it is listened to.
import type { OwnPage } from "../wire";

/** All that a board page is told, whenever something of it changes. */
export interface PageState {
  readonly type: "state";
  /** My seat; null: I watch. */
  readonly seat: number | null;
  /** Who sits where. */
  readonly names: readonly (string | null)[];
  readonly view: unknown;
  /** What I can do now; null: the game does not say. */
  readonly legal: readonly unknown[] | null;
  readonly theme: "light" | "dark";
  readonly language: string;
  /** I want nothing to move. */
  readonly still: boolean;
}

/** The part of it that comes from the game; who cannot do anything here has no legal events. */
export function gameState({ view = null, legal = [] }: OwnPage, active: boolean): Pick<PageState, "view" | "legal"> {
  return { view, legal: active ? legal : [] };
}

/** The address of a page; a page that was saved again has another one. */
export function addressOf(game: string, { version }: OwnPage): string {
  return `/boards/${encodeURIComponent(game)}/index.html?v=${encodeURIComponent(version)}`;
}

/** More than this no event of a game is. */
export const MAX_EVENT = 16_000;

/** The event in a message of a board page; undefined where it is none that could be sent. */
export function eventIn(message: unknown): unknown {
  if (typeof message !== "object" || message === null || (message as { type?: unknown }).type !== "event") return undefined;
  try {
    const text = JSON.stringify((message as { event?: unknown }).event);
    return text === undefined || text.length > MAX_EVENT ? undefined : JSON.parse(text);
  } catch {
    return undefined; // in a circle, or a number that JSON has no word for
  }
}

/** How many messages come: so many at once, and so many a second. */
export class Budget {
  #left: number;
  #at = 0;

  constructor(readonly most: number, readonly perSecond: number) {
    this.#left = most;
  }

  /** True if one more is fine, at this time in seconds. */
  take(now: number): boolean {
    this.#left = Math.min(this.most, this.#left + (now - this.#at) * this.perSecond);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
