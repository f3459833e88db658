// How the line to the server is, in words of its own: pure, so that it can be tested without a socket.
import { t } from "./language/language.svelte";

export type Connection =
  | { readonly is: "connecting" }
  | { readonly is: "connected" }
  | { readonly is: "waiting"; readonly tries: number; readonly until: number };

export const CONNECTING: Connection = { is: "connecting" };

/** Milliseconds after which people hear that an answer is late, and after which the line is given up. */
export const LATE = 2000;
export const DEAD = 5000;
/** Milliseconds in which a new connection must open. */
export const PATIENT = 8000;

/** After so many tries in vain people are told that the server is gone, not that it stumbled. */
const PATIENCE = 6;

const PAUSES = [100, 300, 1000, 2000, 3000, 5000];

/** Milliseconds before the n-th try, counted from 1; a little scattered, so that not everybody comes at once. */
export function pause(tries: number, chance: number): number {
  return Math.round((PAUSES[tries - 1] ?? PAUSES.at(-1)!) * (0.8 + 0.4 * chance));
}

/** What to tell people, or nothing while all is well. */
export function connectionWords(connection: Connection, now: () => number, seated: boolean): string | null {
  if (connection.is === "connected") return null;
  if (connection.is === "connecting") return t("Connecting…");
  const seconds = Math.ceil((connection.until - now()) / 1000);
  if (connection.tries > PATIENCE) {
    const gone = seated ? t("The server does not answer: your game is safe.") : t("The server does not answer.");
    return `${gone} ${seconds > 0 ? t("Trying again in {seconds} s.", seconds) : t("Trying again now.")}`;
  }
  if (seated) return seconds > 0 ? t("Reconnecting in {seconds} s: your game is safe", seconds) : t("Reconnecting: your game is safe");
  return seconds > 0 ? t("Reconnecting in {seconds} s", seconds) : t("Reconnecting");
}
