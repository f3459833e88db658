// What the server answers and pushes, besides scenes.
import type { Patch, Scene } from "./wire";

export interface Player {
  id: string;
  name: string;
}

export interface Outcome {
  won?: string[];
  lost?: string[];
  drew?: string[];
  why?: string;
}

export interface Result {
  outcome: Outcome;
  seed: string;
  seed_hash: string;
}

export interface RoomSheet {
  id: string;
  game: string;
  status: "waiting" | "playing" | "over" | "ended";
  seats: (Player | null)[];
  spectators: number;
  seq: number;
  outcome: Outcome | null;
  ended: string | null;
  private: boolean;
  created: number;
  seed_hash: string;
  seeds: { first: number; last: number; seed: string }[];
}

export type Schema = Record<string, unknown>;

export interface GameSheet {
  name: string;
  display_name: string;
  seats: [number, number];
  spectators: number | null;
  config_schema: Schema;
}

/** A refusal: a code for programs, a sentence for people, and where the fault is. */
export interface Problem {
  code: string;
  message: string;
  path?: string;
}

export interface Joined {
  player: string;
  game: string;
  seq: number;
  seat: number | null;
}

export interface Sync {
  seq: number;
  scene: Scene;
  now?: number;
  result?: Result;
  reset?: boolean;
}

export interface Update {
  seq: number;
  patch?: Patch;
  result?: Result | null;
}

export interface Said {
  seq: number;
  from: string;
  name: string;
  text: string;
  at: number;
}

export interface PresenceMeta {
  phx_ref: string;
  name?: string;
  seat?: number | null;
  count?: number;
}

export type PresenceState = Record<string, { metas: PresenceMeta[] }>;

export interface PresenceDiff {
  joins: PresenceState;
  leaves: PresenceState;
}
