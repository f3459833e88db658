// The panel's calls: each brings the key that stands in the address, after the #.
import type { Player, PublicRoom, Scene } from "../../wire";

export interface Viewer {
  /** null: the spectators. */
  readonly seat: number | null;
  /** null: the seat is free. */
  readonly player: Player | null;
  readonly token: string | null;
  readonly view: unknown;
  readonly scene: Scene | null;
  readonly problem: string | null;
}

export interface PanelRoom {
  readonly id: string;
  readonly game: string;
  readonly seq: number;
  readonly step: number;
  readonly ended: string | null;
  readonly problem: string | null;
  readonly state: unknown;
  readonly viewers: readonly Viewer[];
}

export interface Step {
  readonly seq: number;
  readonly at: number;
  readonly command: { readonly do: string; readonly player?: string; readonly [field: string]: unknown };
}

export interface Home {
  readonly games: readonly { readonly name: string; readonly display_name: string }[];
  readonly rooms: readonly PublicRoom[];
}

export const key = () => location.hash.slice(1);
export const addressOf = (room: string) => `/panel/${encodeURIComponent(room)}#${key()}`;

async function call<T>(method: "GET" | "POST", path: string, body?: unknown): Promise<T> {
  const headers = { Authorization: `Bearer ${key()}`, "Content-Type": "application/json" };
  const options = { method, headers, credentials: "omit", ...(body === undefined ? {} : { body: JSON.stringify(body) }) } as const;
  const response = await fetch(`/api/panel/rooms${path}`, options).catch(() => {
    throw new Error("The server does not answer.");
  });
  const answer = (await response.json()) as { message: string };
  if (!response.ok) throw new Error(answer.message);
  return answer as T;
}

const at = (room: string) => `/${encodeURIComponent(room)}`;

export const home = () => call<Home>("GET", "");
export const open = (game: string, config: unknown) => call<PublicRoom>("POST", "", { game, config });
/** The room after a step; null is the last. */
export const look = (room: string, step: number | null) => call<PanelRoom>("GET", `${at(room)}${step === null ? "" : `?step=${step}`}`);
export const stepsFrom = (room: string, first: number) => call<Step[]>("GET", `${at(room)}/steps?from=${first}`);
export const seatPlayer = (room: string) => call<PublicRoom>("POST", `${at(room)}/players`);
export const branch = (room: string, step: number) => call<PublicRoom>("POST", `${at(room)}/branch`, { step });
