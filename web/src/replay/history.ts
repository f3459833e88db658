// Reading a room's history from the server, part by part.
import * as api from "../api";
import type { HistoryPage, HistoryStep } from "../wire";
import { Frames } from "./frames";

/** What has been read of a room's history, as I may see it. */
export class History {
  readonly steps: HistoryStep[] = [];
  readonly frames = new Frames();
  /** The game by its name, once something has been read. */
  game = "";

  constructor(
    readonly id: string,
    /** The room's number, where several had this id. */
    public number?: number,
  ) {}

  /** Read what there is beyond what was read before; *onpart* is called after each part. */
  async readOn(onpart?: () => void): Promise<void> {
    let asked: Promise<HistoryPage> | null = this.#ask();
    while (asked) {
      const part: HistoryPage = await asked;
      this.number = part.room;
      this.game = part.game;
      this.steps.push(...part.steps);
      const isWhole = !part.steps.length || this.steps.at(-1)!.seq >= part.seq;
      asked = isWhole ? null : this.#ask(); // while the server reads on, this part is drawn
      this.frames.add(part.steps);
      onpart?.();
    }
  }

  #ask(): Promise<HistoryPage> {
    return api.history(this.id, this.steps.length ? this.steps.at(-1)!.seq + 1 : 0, this.number);
  }
}
