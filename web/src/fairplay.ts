// Whether a history drew its luck as it should have: every draw is made again from the seed and what players added.
import { listed, t } from "./language/language.svelte";
import type { AddedLuck, HistoryStep, Player } from "./wire";

/** A seed that was shown, and the steps that drew from it. */
export interface Period {
  readonly first: number;
  readonly last: number;
  readonly seed: string;
  readonly added: readonly AddedLuck[];
  /** The hash of the next seed, which was published with this one. */
  readonly next: string;
}

export type Fault =
  | { readonly is: "draw"; readonly seq: number; readonly told: number; readonly right: number }
  | { readonly is: "seed"; readonly seq: number }
  | { readonly is: "added"; readonly seq: number };

/** Who looks, and what this browser added for them to the seed of a hash. */
export interface Own {
  readonly player: string;
  readonly luckOf: (seed: string) => string | undefined;
}

export interface Checked {
  readonly draws: number;
  readonly steps: number;
  readonly fault: Fault | null;
}

/** The seeds of a history from its beginning, each with its steps. */
export function periods(steps: readonly HistoryStep[]): Period[] {
  const found: Period[] = [];
  for (const { seq, result } of steps) {
    if (!result) continue;
    const first = (found.at(-1)?.last ?? -1) + 1;
    found.push({ first, last: seq, seed: result.seed, added: result.added ?? [], next: result.seed_hash });
  }
  return found;
}

/** Make every draw again; *published* is the hash that I was told before I could know the seed. */
export async function check(steps: readonly HistoryStep[], published: string | null = null, own: Own | null = null): Promise<Checked> {
  const all = periods(steps);
  const hashes = await Promise.all(all.map(({ seed }) => sha256(seed)));
  const broken = all.findIndex((_, n) => n > 0 && hashes[n] !== all[n - 1]!.next);
  if (broken > 0) return { draws: 0, steps: 0, fault: { is: "seed", seq: all[broken]!.last } };
  const known = [...hashes, all.at(-1)?.next];
  if (published !== null && all.length && !known.includes(published)) return { draws: 0, steps: 0, fault: { is: "seed", seq: all[0]!.last } };
  const replaced = own && all.find(({ added }, n) => isReplaced(added, own, hashes[n]!));
  if (replaced) return { draws: 0, steps: 0, fault: { is: "added", seq: replaced.last } };
  let [draws, drawing] = [0, 0];
  for (const { first, last, seed, added } of all) {
    const key = await keyOf(seed, added);
    for (const step of steps) {
      if (step.seq < first || step.seq > last || !step.draws?.length) continue;
      drawing += 1;
      let count = 0;
      for (const [size, told] of step.draws) {
        const { drawn, used } = await draw(key, step.seq, count, size);
        if (drawn !== told) return { draws, steps: drawing, fault: { is: "draw", seq: step.seq, told, right: drawn } };
        count = used;
        draws += 1;
      }
    }
  }
  return { draws, steps: drawing, fault: null };
}

/** Something else was added in my name than what I sent. */
function isReplaced(added: readonly AddedLuck[], { player, luckOf }: Own, seed: string): boolean {
  const mine = added.find((one) => one.player === player)?.luck;
  return mine !== undefined && mine !== (luckOf(seed) ?? mine);
}

/** What the check says, in a sentence. */
export function verdictOf({ draws, fault }: Checked): string {
  if (fault?.is === "draw") return t("Step {step} is wrong: it drew {told}, and the seed says {right}.", fault.seq, fault.told, fault.right);
  if (fault?.is === "added") return t("What was added in your name before step {step} did not come from this browser. If you played on no other device, somebody replaced it.", fault.seq);
  if (fault) return t("The seed that was shown at step {step} is not the one whose hash was published.", fault.seq);
  if (!draws) return t("Nothing was drawn by chance here.");
  return draws === 1 ? t("The one draw is what the seed says.") : t("All {count} draws are what the seed says.", draws);
}

/** What a check can prove here: it depends on who added random bytes. */
export function proven(added: readonly AddedLuck[], seats: readonly (Player | null)[]): string {
  const people = seats.filter((seat): seat is Player => seat !== null && !seat.bot);
  const without = people.filter(({ id }) => !added.some(({ player }) => player === id));
  if (!added.length) return t("The server fixed its luck before the first move and kept to it. No player added random bytes, so this does not show that the server did not pick a seed it liked.");
  if (!without.length) return t("Nobody chose this luck: the server fixed its seed first, and then every player added random bytes to it.");
  const names = listed(without.map(({ name }) => name));
  if (without.length === 1) return t("The server could not choose this luck alone, since random bytes were added to its seed. One player added none: {name}.", names);
  return t("The server could not choose this luck alone, since random bytes were added to its seed. These players added none: {names}.", names);
}

async function keyOf(seed: string, added: readonly AddedLuck[]): Promise<CryptoKey> {
  const own = await hmacKey(bytes(seed));
  if (!added.length) return own;
  return hmacKey(new Uint8Array(await crypto.subtle.sign("HMAC", own, bytes(added.map(({ luck }) => luck).join("")))));
}

function hmacKey(raw: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

/** Number `count` and on of a step, until one is fair: see "Chance that anybody can check" in the docs. */
async function draw(key: CryptoKey, step: number, count: number, size: number): Promise<{ drawn: number; used: number }> {
  const most = 1n << 64n;
  const fair = most - (most % BigInt(size));
  for (let used = count; ; used++) {
    const digest = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${step}:${used}`));
    const number = new DataView(digest).getBigUint64(0);
    if (number < fair) return { drawn: Number(number % BigInt(size)), used: used + 1 };
  }
}

async function sha256(seed: string): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(seed))));
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (two) => parseInt(two, 16));
}

function hex(raw: Uint8Array): string {
  return [...raw].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
