// The browser's storage. Where it is full or not allowed, what is put here lasts until the page is left.
import { framedFor } from "./framed";

class Kept {
  readonly #area: () => Storage;
  readonly #here = new Map<string, string>();

  constructor(area: () => Storage) {
    this.#area = area;
  }

  getItem(key: string): string | null {
    try {
      return this.#here.get(key) ?? this.#area().getItem(key);
    } catch {
      return null;
    }
  }

  /** What was put there as JSON; null where there is nothing, or nothing that can be read. */
  read(key: string): unknown {
    try {
      return JSON.parse(this.getItem(key) ?? "null");
    } catch {
      return null;
    }
  }

  setItem(key: string, value: string): void {
    try {
      this.#area().setItem(key, value);
      this.#here.delete(key);
    } catch {
      this.#here.set(key, value);
    }
  }

  removeItem(key: string): void {
    this.#here.delete(key);
    try {
      this.#area().removeItem(key);
    } catch {
      // Nothing was kept there.
    }
  }
}

/** For as long as the browser likes. */
export const lasting = new Kept(() => localStorage);
/** For as long as the tab is open; the frames of a tab have one storage and are different people, so there for each page. */
export const passing = new Kept(() => {
  if (framedFor !== null) throw new Error();
  return sessionStorage;
});
