// The one socket of the page, and how it is.
import { Socket } from "phoenix";
import { CONNECTING, pause, type Connection } from "./connection";
import { me } from "./me.svelte";

class Line {
  connection: Connection = $state.raw(CONNECTING);
  #socket: Socket | null = null;

  /** The socket, opened when somebody first needs it; the cookie must be there before. */
  async socket(): Promise<Socket> {
    if (this.#socket) return this.#socket;
    await me.known();
    if (this.#socket) return this.#socket;
    const socket = new Socket("/socket", {
      timeout: 10_000,
      reconnectAfterMs: (tries) => this.#wait(tries),
      rejoinAfterMs: (tries) => pause(tries, Math.random()),
    });
    socket.onOpen(() => void (this.connection = { is: "connected" }));
    socket.onClose(() => {
      if (this.connection.is === "connected") this.connection = CONNECTING;
    });
    socket.connect();
    return (this.#socket = socket);
  }

  /** Do not wait any longer. */
  hurry(): void {
    const socket = this.#socket;
    if (!socket || socket.isConnected()) return;
    socket.disconnect(() => socket.connect());
  }

  #wait(tries: number): number {
    const milliseconds = pause(tries, Math.random());
    this.connection = { is: "waiting", tries, until: Date.now() + milliseconds };
    return milliseconds;
  }
}

export const line = new Line();
