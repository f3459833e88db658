// The texts of one language by their English. `{name}` in both stands for whatever is said there; `{0}` is the name of
// whoever has seat 0, as everywhere in scenes, and is put in later.

/** A text, or several by how many there are: the plural forms of the language. */
export type Entry = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;
export type Texts = Readonly<Record<string, Entry>>;

const HOLE = /\{([a-z]\w*)\}/gi;
/** So deep may texts stand in each other: a piece in a move in a line of a log. */
const DEPTH = 3;
const MOST_KEPT = 5000;

/** What stands between a template's beginning and end, by name. */
type Filling = Readonly<Record<string, string>>;

interface Pattern {
  readonly expression: RegExp;
  readonly names: readonly string[];
  readonly entry: Entry;
  readonly weight: number;
}

export class Catalogue {
  readonly #patterns: readonly Pattern[];
  readonly #kept = new Map<string, string | null>();
  readonly #plurals: Intl.PluralRules;

  constructor(
    readonly language: string,
    readonly texts: Texts,
  ) {
    this.#plurals = new Intl.PluralRules(language);
    const templates = Object.entries(texts).filter(([english]) => holes(english).length);
    this.#patterns = templates.map(pattern).sort((one, other) => other.weight - one.weight);
  }

  /** A text by its template; null where there is none. */
  fill(english: string, filling: Filling): string | null {
    const entry = this.texts[english];
    return entry === undefined ? null : filled(this.#form(entry, Object.values(filling)), filling);
  }

  /** A sentence that was put together elsewhere, by the template that it fits; null where none does. */
  find(sentence: string): string | null {
    let found = this.#kept.get(sentence);
    if (found === undefined) {
      found = this.#found(sentence, DEPTH);
      if (this.#kept.size > MOST_KEPT) this.#kept.clear();
      this.#kept.set(sentence, found);
    }
    return found;
  }

  #found(sentence: string, depth: number): string | null {
    const entry = this.texts[sentence];
    if (entry !== undefined) return this.#form(entry, [sentence]);
    if (depth === 0) return null;
    for (const { expression, names, entry } of this.#patterns) {
      const match = expression.exec(sentence);
      if (!match) continue;
      const said = match.slice(1);
      const filling = Object.fromEntries(names.map((name, n) => [name, this.#found(said[n]!, depth - 1) ?? said[n]!]));
      return filled(this.#form(entry, said), filling);
    }
    return null;
  }

  /** The form of an entry for the first number that is spoken of. */
  #form(entry: Entry, said: readonly string[]): string {
    if (typeof entry === "string") return entry;
    const count = said.map((one) => /\d+/.exec(one)?.[0]).find((one) => one !== undefined);
    return entry[this.#plurals.select(Number(count ?? 0))] ?? entry.other ?? "";
  }
}

/** The names of what is put into a template, in their order. */
export function holes(template: string): string[] {
  return [...template.matchAll(HOLE)].map(([, name]) => name!);
}

export function filled(template: string, filling: Filling): string {
  return template.replace(HOLE, (hole, name: string) => filling[name] ?? hole);
}

/** Templates that say more are tried first. */
function pattern([english, entry]: [string, Entry]): Pattern {
  const parts = english.split(HOLE);
  const source = parts.map((part, n) => (n % 2 ? "(.+?)" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))).join("");
  const weight = parts.filter((_, n) => n % 2 === 0).join("").length;
  return { expression: new RegExp(`^${source}$`, "s"), names: holes(english), entry, weight };
}
