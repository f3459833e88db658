// What the page brings at home, so that nobody waits for another answer before its first picture.
import type { Texts } from "./language/catalogue";
import type { PublicGame, Scene } from "./wire";

interface Brought {
  readonly games: readonly PublicGame[];
  readonly previews: Readonly<Record<string, Scene | null>>;
  /** What the games are called, by language. */
  readonly titles: Readonly<Record<string, Texts>>;
}

const block = globalThis.document?.getElementById("home");

export const brought: Brought | null = block ? (JSON.parse(block.textContent) as Brought) : null;
