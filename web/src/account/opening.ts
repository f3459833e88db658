// Making an account: the recovery code is made here, so that a lost answer costs nobody their account.
import * as api from "../api";
import type { KnownPlayer, NewAccountBy } from "../wire";

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

/** One account that is to be made, with as many tries as it takes. */
export class Opening {
  readonly code = newCode();
  /** An answer was lost: the account may be made already, or a moment from now. */
  inDoubt = false;

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
      return await api.signIn({ code: this.code });
    } catch (why) {
      if (why instanceof api.Refusal) return null;
      throw why;
    }
  }
}
