// What I have chosen for myself in a game: to roll by itself, to hide counts. Kept in this browser, game by game.

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
    try {
      localStorage.setItem(key(this.game), JSON.stringify([...this.#made]));
    } catch {
      // Not allowed: then it is chosen until the page is left.
    }
  }
}

const key = (game: string) => `choices:${game}`;

function kept(game: string): Set<string> {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key(game)) ?? "[]");
    return new Set(Array.isArray(found) ? found.filter((id) => typeof id === "string") : []);
  } catch {
    return new Set();
  }
}
