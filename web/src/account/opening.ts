// Making an account: the recovery code is made here, so that a lost answer costs nobody their account.
import * as api from "../api";
import { t } from "../language/language.svelte";
import type { KnownPlayer, MyAccount, NewAccountBy } from "../wire";

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const GROUPS = 5;
const LETTERS_OF_A_GROUP = 4;

const letter = (byte: number) => LETTERS[byte % LETTERS.length]!;

/** A recovery code of 100 random bits, in groups that can be written down. */
export function newCode(): string {
  const group = () => Array.from(crypto.getRandomValues(new Uint8Array(LETTERS_OF_A_GROUP)), letter).join("");
  return Array.from({ length: GROUPS }, group).join("-");
}

const isLost = (why: unknown) => why instanceof api.Refusal && ["no_answer", "outcome_unknown"].includes(why.code);

/** What is asked for. */
export interface Wanted {
  name: string;
  byPasskey: boolean;
}

/** In what an account that an earlier try has made differs from what was asked for last, in sentences. */
export function differences({ name, passkeys }: Pick<MyAccount, "name" | "passkeys">, wanted: Wanted): string[] {
  const told: string[] = [];
  if (name !== wanted.name) told.push(t("Your account was made by an earlier try, under the name {name}.", name));
  if (wanted.byPasskey && !passkeys?.length) told.push(t("Your account was made by an earlier try, without a passkey: add one below."));
  return told;
}

/** One account that is to be made, with as many tries as it takes. */
export class Opening {
  readonly code = newCode();
  /** An answer was lost: the account may be made already, or a moment from now. */
  inDoubt = false;
  /** It was made by an earlier try, perhaps otherwise than was asked for last. */
  isFound = false;

  /** The account; a passkey is made for it only if it is not there yet. */
  async open(name: string, makePasskey: (() => Promise<NewAccountBy["passkey"]>) | null): Promise<KnownPlayer> {
    const found = await this.#find();
    if (found) return found;
    const passkey = makePasskey && (await makePasskey());
    try {
      const { code: _, ...player } = await api.openAccount({ name, passkey, code: this.code });
      return player;
    } catch (why) {
      this.inDoubt ||= isLost(why);
      const found = await this.#find();
      if (found) return found;
      throw why;
    }
  }

  /** The account, if an answer was lost and it turns out to be made. */
  async #find(): Promise<KnownPlayer | null> {
    if (!this.inDoubt) return null;
    try {
      const found = await api.signIn({ code: this.code });
      this.isFound = true;
      return found;
    } catch (why) {
      if (why instanceof api.Refusal) return null;
      throw why;
    }
  }
}
