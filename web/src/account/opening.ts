// Making an account: the recovery code is made here, so that a lost answer costs nobody their account.
import * as api from "../api";
import type { KnownPlayer, NewAccountBy } from "../wire";

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const GROUPS = 5;
const LETTERS_OF_A_GROUP = 4;

/** A recovery code of 100 random bits, in groups that can be written down. */
export function newCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(GROUPS * LETTERS_OF_A_GROUP));
  const letters = Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("");
  return letters.match(/.{4}/g)!.join("-");
}

const isLost = (why: unknown) => why instanceof api.Refusal && ["no_answer", "outcome_unknown"].includes(why.code);

/** One account that is to be made, with as many tries as it takes. */
export class Opening {
  readonly code = newCode();
  /** An answer was lost: the account may be made already. */
  inDoubt = false;

  async open(wish: NewAccountBy): Promise<KnownPlayer> {
    if (this.inDoubt) {
      const found = await this.#find();
      if (found) return found;
    }
    try {
      const { code: _, ...player } = await api.openAccount({ ...wish, code: this.code });
      return player;
    } catch (why) {
      this.inDoubt = isLost(why);
      const found = this.inDoubt ? await this.#find().catch(() => null) : null;
      if (!found) throw why;
      return found;
    }
  }

  /** The account, if it was made; null if it was not, and then nothing is in doubt any more. */
  async #find(): Promise<KnownPlayer | null> {
    try {
      return await api.signIn({ code: this.code });
    } catch (why) {
      if (!(why instanceof api.Refusal && why.code === "bad_code")) throw why;
      this.inDoubt = false;
      return null;
    }
  }
}
