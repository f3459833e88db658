// What I have chosen for myself in a game: to roll by itself, to hide counts. Kept in this browser, game by game.
import { lasting } from "../storage";

export class Choices {
  #made: ReadonlySet<string> = $state.raw(new Set());

  constructor(readonly game: string) {
    this.#made = kept(game);
  }

  has(id: string): boolean {
    return this.#made.has(id);
  }

  set(id: string, made: boolean): void {
    const others = [...this.#made].filter((one) => one !== id);
    this.#made = new Set(made ? [...others, id] : others);
    lasting.setItem(key(this.game), JSON.stringify([...this.#made]));
  }
}

const key = (game: string) => `choices:${game}`;

function kept(game: string): Set<string> {
  const found = lasting.read(key(game));
  return new Set(Array.isArray(found) ? found.filter((id) => typeof id === "string") : []);
}
