// Looking back while the game goes on: earlier moments of it, as this viewer may see them.
import { gameOf, turnAt, turns, type Frame, type Turn } from "../replay/frames";
import { History } from "../replay/history";

export class Past {
  /** The moment that is looked at; null: the present. */
  frame: Frame | null = $state.raw(null);
  /** Its place among the turns; -1 before the first. */
  turn: number | null = $state(null);
  #history: History;
  #at = 0;

  constructor(readonly id: string) {
    this.#history = new History(id);
  }

  /** Show the board after a turn of the game whose log this is. */
  async show(turn: number, log: readonly string[]): Promise<void> {
    const { game, found } = await this.#read(log);
    const there = found[Math.max(0, Math.min(turn, found.length - 1))];
    if (there) this.#put(game, found, there.frame);
  }

  /** One turn back or on; after the last comes the present. */
  async step(by: -1 | 1, log: readonly string[]): Promise<void> {
    if (by > 0 && this.frame === null) return;
    const { game, found } = await this.#read(log);
    const from = this.frame === null ? game.length - 1 : this.#at;
    const stops = [0, ...found.map(({ frame }) => frame)];
    const to = by < 0 ? stops.findLast((stop) => stop < from) : stops.find((stop) => stop > from);
    if (to !== undefined) this.#put(game, found, to);
    else if (by > 0) this.leave();
  }

  /** Back to the present. */
  leave(): void {
    this.frame = this.turn = null;
  }

  #put(game: readonly Frame[], found: readonly Turn[], at: number): void {
    this.#at = at;
    this.frame = game[at]!;
    this.turn = turnAt(found, at);
  }

  async #read(log: readonly string[]): Promise<{ game: readonly Frame[]; found: readonly Turn[] }> {
    await this.#history.readOn();
    const game = gameOf(this.#history.frames.list, log);
    return { game, found: turns(game) };
  }
}
