// Who I am: a guest with a name, or an account. The token lives in a cookie that no script can read.
import { Refusal, becomePlayer } from "./api";
import { t } from "./language/language.svelte";
import { lasting } from "./storage";
import type { KnownPlayer } from "./wire";

class Me {
  player: KnownPlayer | null = $state.raw(null);
  /** Connects anew what knew me by the old cookie. */
  changed: () => void = () => undefined;
  #asking: Promise<KnownPlayer> | null = null;
  /** The server has known me again by what this browser keeps. */
  #isKnownAgain = false;

  /** The name was chosen, not given. */
  get named(): boolean {
    return this.player !== null && (this.player.account || lasting.getItem("named") === this.player.id);
  }

  /** My name as a field shows it that I may write it in. */
  get ownName(): string {
    return this.named ? this.player!.name : "";
  }

  /** Known to the server; asked once for all who want to know. */
  known(): Promise<KnownPlayer> {
    if (this.player) return Promise.resolve(this.player);
    this.#asking ??= becomePlayer()
      .then((player) => (this.player = player))
      .finally(() => (this.#asking = null));
    return this.#asking;
  }

  /**
   * Before I play or watch: the name, if I typed one, is mine; refused where the browser keeps nothing to know me by.
   * False: I am somebody else now, since another tab has signed in or out.
   */
  async enter(typed = ""): Promise<boolean> {
    const { id, name: before } = await this.known();
    const name = typed.trim();
    const isNew = name !== "" && !(name === before && this.named);
    if (!isNew && this.#isKnownAgain) return true;
    const isStillMe = (await this.#knownAgain(id)) === id;
    if (isNew && (isStillMe || !this.named)) { // a name that somebody chose stays theirs
      const player = await becomePlayer(name);
      lasting.setItem("named", player.id);
      this.player = player;
    }
    return isStillMe;
  }

  /** The id of whom the server knows by what this browser keeps: mine, or that of whom I have become in another tab. */
  async #knownAgain(id: string): Promise<string> {
    let now = await becomePlayer();
    if (now.id !== id) {
      const other = now.id;
      now = await becomePlayer();
      if (now.id !== other) throw new Refusal({ code: "no_cookies", message: t("Your browser keeps no cookie for this page, so nobody here would know you again: allow it, and load the page anew.") });
    }
    this.player = now;
    this.#isKnownAgain = true;
    if (now.id !== id) this.changed();
    return now.id;
  }

  /** I have an account now, and with it another cookie. */
  become(account: KnownPlayer): void {
    this.player = account;
    this.changed();
  }
}

export const me = new Me();
