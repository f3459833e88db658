// Links for others begin with the address by which others reach the server, which it knows itself.
import * as api from "./api";

class Links {
  /** What links begin with; null before the server was asked. */
  start: string | null = $state(null);
  #asking: Promise<void> | null = null;

  /** Ask the server where others reach it; once for all who want to know. */
  look(): void {
    this.#asking ??= api
      .server()
      .then(({ address }) => void (this.start = withoutSlash(address ?? location.origin)))
      .catch(() => {
        this.start ??= location.origin;
        this.#asking = null; // the next who looks asks again
      });
  }

  /** The whole link to a page; null before the server was asked. */
  to(path: string): string | null {
    return this.start === null ? null : this.start + path;
  }

  /** Whether a link leads others back to their own computer. */
  get onlyHere(): boolean {
    return this.start !== null && isLoopback(new URL(this.start).hostname);
  }
}

export const links = new Links();

function withoutSlash(address: string): string {
  return address.replace(/\/$/, "");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}
