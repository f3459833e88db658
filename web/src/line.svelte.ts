// The one socket of the page, and how it is.
import { Socket } from "phoenix";
import { framedFor } from "./framed";
import { CONNECTING, DEAD, LATE, PATIENT, pause, type Connection } from "./connection";
import { steady } from "./steady";
import { passing } from "./storage";
import { me } from "./me.svelte";

/** By how many answers a new connection is measured, and milliseconds from one to the next question. */
const PINGS = 5;
const APART = 500;

class Line {
  connection: Connection = $state.raw(CONNECTING);
  /** An answer is late, though the line seems to stand. */
  late = $state(false);
  /** Milliseconds that a message takes from the server to here, as far as is known. */
  delay = $state(0);
  #socket: Socket | null = null;
  #questions = new Set<symbol>();
  #heard = 0;
  #watch: ReturnType<typeof setTimeout> | undefined;
  #opening: ReturnType<typeof setTimeout> | undefined;
  #measuring: ReturnType<typeof setTimeout> | undefined;

  /** The socket, opened when somebody first needs it; the cookie must be there before. */
  async socket(): Promise<Socket> {
    if (this.#socket) return this.#socket;
    await me.known();
    if (this.#socket) return this.#socket;
    const socket = new Socket("/socket", {
      sessionStorage: passing,
      ...(framedFor === null ? {} : { params: { token: framedFor } }),
      timeout: 10_000,
      heartbeatIntervalMs: 10_000,
      reconnectAfterMs: (tries) => this.#wait(tries),
      rejoinAfterMs: (tries) => pause(tries, Math.random()),
    });
    this.#socket = socket;
    me.changed = () => this.#begin(1);
    socket.onOpen(() => this.#opened(socket));
    socket.onClose(() => {
      if (this.connection.is === "connected") this.connection = CONNECTING;
    });
    socket.onMessage(() => void this.#heard++);
    socket.connect();
    this.#mustOpen(1, PATIENT);
    return socket;
  }

  /** Something was asked; what is returned is called when the answer is there. Till then the line is watched. */
  expect(): () => void {
    const question = Symbol("question");
    this.#questions.add(question);
    if (this.#questions.size === 1) this.#watchLine();
    return () => {
      if (!this.#questions.delete(question) || this.#questions.size) return;
      clearTimeout(this.#watch);
      this.late = false;
    };
  }

  /** Do not wait any longer. */
  hurry(): void {
    if (this.#socket && !this.#socket.isConnected()) this.#begin(1);
  }

  #opened(socket: Socket): void {
    clearTimeout(this.#opening);
    this.#measure(socket, PINGS);
    this.connection = { is: "connected" };
    if (this.#questions.size) this.#watchLine();
  }

  /** Half of the quickest answer: what held up another says nothing of the way. */
  #measure(socket: Socket, left: number, least = Infinity): void {
    clearTimeout(this.#measuring);
    socket.ping((took) => {
      this.delay = Math.min(least, took / 2);
      if (left > 1) this.#measuring = setTimeout(() => this.#measure(socket, left - 1, this.delay), APART);
    });
  }

  /** An answer that is late makes the page ask for a sign of life; where none comes, the line is dead. */
  #watchLine(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      if (!this.#socket?.isConnected()) return; // it is noticed already
      this.late = true;
      const before = this.#heard;
      this.#socket.ping(() => undefined);
      this.#watch = setTimeout(() => (this.#heard === before ? this.#begin(1) : this.#watchLine()), DEAD - LATE);
    }, LATE);
  }

  /** Give this connection up, and make another at once. */
  #begin(tries: number): void {
    this.connection = { is: "waiting", tries, until: steady() };
    this.#socket?.disconnect();
    this.#socket?.connect();
    this.#mustOpen(tries, PATIENT);
  }

  /** A connection that neither opens nor fails is tried again. */
  #mustOpen(tries: number, patience: number): void {
    clearTimeout(this.#opening);
    this.#opening = setTimeout(() => this.#begin(tries + 1), patience);
  }

  #wait(tries: number): number {
    const milliseconds = pause(tries, Math.random());
    this.connection = { is: "waiting", tries, until: steady() + milliseconds };
    this.#mustOpen(tries, milliseconds + PATIENT);
    return milliseconds;
  }
}

export const line = new Line();
