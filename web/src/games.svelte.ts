// The games that can be played here, and what they and their variants are called.
import * as api from "./api";
import { brought } from "./brought";
import { fields, titled } from "./form";
import { told } from "./language/language.svelte";
import { titleOf, variantOf } from "./terms";
import type { PublicGame, Scene } from "./wire";

const aMoment = () => new Promise((done) => setTimeout(done));

class Games {
  #isNew = brought !== null;
  list: readonly PublicGame[] = $state.raw(brought?.games ?? []);
  /** The little boards by game, as far as they were asked for and are there; null: there is none. */
  previews: Readonly<Record<string, Scene | null>> = $state.raw({});

  /** Ask for them, unless the page has just brought them; what was known before stays until the answer is there. */
  async look(): Promise<readonly PublicGame[]> {
    if (this.#isNew) this.#isNew = false;
    else this.list = await api.games();
    return this.list;
  }

  /** Ask for the little boards of those that have none yet; a page does without one that does not come. */
  async draw(): Promise<void> {
    for (const [name, scene] of Object.entries(brought?.previews ?? {})) {
      if (!(name in this.previews)) this.previews = { ...this.previews, [name]: scene };
      await aMoment(); // one board after the other: between them the page answers
    }
    const missing = this.list.filter(({ name }) => !(name in this.previews));
    await Promise.all(
      missing.map(async ({ name }) => {
        const { scene } = await api.preview(name).catch(() => ({ scene: null }));
        this.previews = { ...this.previews, [name]: scene };
      }),
    );
  }

  find(name: string): PublicGame | undefined {
    return this.list.find((game) => game.name === name);
  }

  /** Ask for the little boards of a game's cards, by *game/choice*. */
  async drawCards({ name, set_up }: PublicGame): Promise<void> {
    const choices = Object.keys(set_up.labels?.[set_up.cards ?? ""]?.choices ?? {});
    const missing = choices.filter((choice) => !(`${name}/${choice}` in this.previews));
    await Promise.all(
      missing.map(async (choice) => {
        const { scene } = await api.preview(name, choice).catch(() => ({ scene: null }));
        this.previews = { ...this.previews, [`${name}/${choice}`]: scene };
      }),
    );
  }

  /** A game as people call it, with its variant where it is not the usual one. */
  title(name: string, variant?: unknown): string {
    const game = this.find(name);
    return game ? titleOf(game, { variant }) : name;
  }

  /** The same of a room or a ticket, by its settings. */
  titleWith(name: string, config: unknown): string {
    const game = this.find(name);
    return game ? titleOf(game, (config ?? {}) as Record<string, unknown>) : name;
  }
}

export const games = new Games();

/** What a variant is called where it stands by itself: as on its card. */
export function variantTitle(game: PublicGame, variant: string): string {
  return variantOf(game, { variant }) ?? told(titled(variant));
}

/** The variants of a game that has some, the usual one first, then as on the cards. */
export function variantsOf(game: PublicGame): string[] {
  const field = fields(game.config_schema, game.set_up.labels).find(({ name }) => name === "variant");
  const all = (field?.choices ?? []).filter((one): one is string => typeof one === "string");
  return all.sort((a, b) => Number(b === field?.initial) - Number(a === field?.initial));
}

/** Only games for two are ranked. */
export function isRanked({ seats: [least, most] }: PublicGame): boolean {
  return least === 2 && most === 2;
}

/** Played by one alone: nobody to be paired with. */
export function isForOne({ seats: [least] }: PublicGame): boolean {
  return least < 2;
}

/** Who plays against somebody who did not choose: the weakest of those who know what they do. */
export function usualBot({ bots }: PublicGame): string | undefined {
  return bots.find((bot) => bot !== "random") ?? bots[0];
}
