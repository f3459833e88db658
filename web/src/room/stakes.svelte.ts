// What a ranked game is played for: the ratings at the table, and what can become of them.
import * as api from "../api";
import { line } from "../line.svelte";
import type { Player, Stake } from "../wire";

/** The stakes of a room, asked for whenever others play, and after the line was gone: ratings may have changed; where
 * they cannot be had, the names stand alone. */
export class Stakes {
  #told: readonly Stake[] = $state.raw([]);
  /** Of whom they were asked for last. */
  #of = "";

  /** *players* gives those of a game that will count, and nobody where none will. */
  constructor(room: string, players: () => readonly (Player | null)[]) {
    const who = $derived([...new Set(players().flatMap((player) => player?.id ?? []))].sort().join(" "));
    $effect(() => {
      const asked = who;
      if (line.connection.is !== "connected") return;
      if (this.#of !== asked) this.#told = [];
      this.#of = asked;
      if (asked) api.stakes(room).then((told) => asked === who && (this.#told = told), () => undefined);
    });
  }

  of(player: Player | null | undefined): Stake | undefined {
    return this.#told.find((one) => one.player === player?.id);
  }
}
