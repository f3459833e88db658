// Reading a room's history from the server, part by part.
import * as api from "../api";
import type { HistoryStep } from "../wire";

/** What has been read of a room's history, as I may see it. */
export class History {
  readonly steps: HistoryStep[] = [];
  /** The game by its name, once something has been read. */
  game = "";

  constructor(
    readonly id: string,
    /** The room's number, where several had this id. */
    public number?: number,
  ) {}

  /** Read what there is beyond what was read before; *onpart* is called after each part. */
  async readOn(onpart?: () => void): Promise<void> {
    for (;;) {
      const part = await api.history(this.id, this.steps.length ? this.steps.at(-1)!.seq + 1 : 0, this.number);
      this.number = part.room;
      this.game = part.game;
      this.steps.push(...part.steps);
      onpart?.();
      if (!part.steps.length || part.steps.at(-1)!.seq >= part.seq) return;
    }
  }
}
