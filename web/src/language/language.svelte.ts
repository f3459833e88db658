// The language of the pages. English is in the source; every other language is a file here by its code, loaded by those who
// read it, what home says first; and what games bring in it comes from the server.
import { untrack } from "svelte";
import { brought } from "../brought";
import { isLater, later } from "../later";
import { passing } from "../storage";
import { Catalogue, filled, holes, type Texts } from "./catalogue";
import { PSEUDO, pseudo } from "./pseudo";

type File = () => Promise<Texts>;
const FIRST = byCode(import.meta.glob("./*.json", { query: "?first", import: "default" }));
const REST = byCode(import.meta.glob("./*.json", { query: "?rest", import: "default" }));

const ENGLISH = "en";
/** The languages of the pages. */
export const LANGUAGES: readonly string[] = [ENGLISH, ...Object.keys(FIRST)];
const RIGHT_TO_LEFT = new Set(["ar", "fa", "he", "ur", PSEUDO]);
const KEY = "lang";

/** The two parts of a catalogue; null: the rest is not there. */
interface Parts {
  readonly first: Texts;
  readonly rest: Texts | null;
}

const NO_TEXTS: Parts = { first: {}, rest: {} };

class Language {
  code = $state(ENGLISH);
  /** The language that somebody chose and that is not there. */
  missing = $state("");
  /** The words of the pages, and those of the games. */
  pages: Catalogue | null = $state.raw(null);
  games: Catalogue | null = $state.raw(null);
  /** What games and the server say is there in the language, too. */
  isTold = $state(true);
  #whole: Promise<void> | null = null;
  #wanted: string | null = null;

  /** Change to a language, by its code; nothing: that of the browser. Resolved when the pages speak it. */
  async speak(chosen: string): Promise<void> {
    const wanted = asked() ?? chosen;
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    const code = wanted === PSEUDO ? PSEUDO : wanted ? known([wanted]) : (known(preferred()) ?? ENGLISH);
    const texts = code && FIRST[code] ? await textsOf(code).catch(() => null) : NO_TEXTS;
    if (wanted !== this.#wanted) return; // somebody has changed their mind meanwhile
    this.missing = code === null ? wanted : "";
    this.#become(texts ? (code ?? ENGLISH) : ENGLISH, texts ?? NO_TEXTS);
  }

  /** Resolved when the pages can say more than home does; what did not come is asked for once more by whoever waits next. */
  whole(): Promise<void> {
    return untrack(() => (this.#whole ??= this.pages ? this.#fill(this.pages) : Promise.resolve()));
  }

  async #fill(pages: Catalogue): Promise<void> {
    const rest = await REST[pages.language]!().catch(() => null);
    if (pages !== this.pages) return; // another language is spoken by now
    if (rest) this.pages = new Catalogue(pages.language, { ...pages.texts, ...rest });
    else this.#whole = null;
  }

  /** A choice in the settings counts more than what the address asked for. */
  forgetAddress(): void {
    passing.removeItem(KEY);
    const address = new URL(location.href);
    address.searchParams.delete(KEY);
    history.replaceState(history.state, "", address);
  }

  #become(code: string, { first, rest }: Parts): void {
    this.code = code;
    this.pages = code in FIRST ? new Catalogue(code, { ...first, ...rest }) : null;
    this.#whole = rest && Promise.resolve();
    this.isTold = !(code in FIRST);
    this.games = brought?.titles[code] ? new Catalogue(code, brought.titles[code]) : null;
    document.documentElement.lang = code === PSEUDO ? ENGLISH : code;
    document.documentElement.dir = RIGHT_TO_LEFT.has(code) ? "rtl" : "ltr";
    if (!(code in FIRST)) return;
    void later.then(() => this.whole());
    void later.then(() => gamesTexts(code)).then((told) => {
      if (told === null || this.code !== code) return;
      this.games = new Catalogue(code, told);
      this.isTold = true;
    });
  }

  /** For dates, numbers and lists: as the reader's own country writes them, where the browser knows it. */
  get locale(): string {
    const code = this.code === PSEUDO ? ENGLISH : this.code;
    return preferred().find((one) => base(one) === code) ?? (code === ENGLISH ? "en-GB" : code);
  }
}

export const language = new Language();

/** A text of the pages: its English, which is also its key, and what is put in for `{name}`, in that order. */
export function t(english: string, ...values: readonly (string | number)[]): string {
  const said = values.map((value) => (typeof value === "number" ? new Intl.NumberFormat(language.locale).format(value) : value));
  const filling = Object.fromEntries(holes(english).map((name, n) => [name, said[n] ?? ""]));
  if (language.code === PSEUDO) return filled(pseudo(english), filling);
  return language.pages?.fill(english, filling) ?? filled(english, filling);
}

/** A text that the server sends, ready-made: of a game, or why something was refused. */
export function told(sentence: string): string {
  if (language.code === PSEUDO) return pseudo(sentence);
  if (!language.games || !sentence) return sentence;
  const line = /^(\{\d+\}:? )(.+)$/s.exec(sentence); // who did it, and what
  return language.games.find(sentence) ?? (line ? line[1]! + (language.games.find(line[2]!) ?? line[2]!) : sentence);
}

/** A word that the server sends, in the reader's language; null where that has none for it. */
export function translated(word: string): string | null {
  return language.code === PSEUDO ? pseudo(word) : (language.games?.find(word) ?? null);
}

/** A text of a page that is written as a whole in one language: only the language for tests changes it. */
export function written(text: string): string {
  return language.code === PSEUDO ? pseudo(text) : text;
}

/** A word in the middle of a sentence, where English has no capital. */
export function inside(word: string): string {
  return language.code === ENGLISH ? word.toLowerCase() : word;
}

/** A span of time in whole units: `2 minutes`. */
export function spanOf(count: number, unit: "day" | "hour" | "minute" | "second"): string {
  return new Intl.NumberFormat(language.locale, { style: "unit", unit, unitDisplay: "long" }).format(count);
}

/** Several in a sentence: `Ann, Bob and Cleo`. */
export function listed(names: readonly string[]): string {
  return new Intl.ListFormat(language.locale, { type: "conjunction" }).format(names);
}

/** What a language calls itself. */
export function ownName(code: string): string {
  const name = code === PSEUDO ? "" : new Intl.DisplayNames([code], { type: "language" }).of(code);
  return name ? name.charAt(0).toLocaleUpperCase(code) + name.slice(1) : code;
}

/** What the pages say in a language: as long as home is not there, or where the rest does not come, what home says. */
async function textsOf(code: string): Promise<Parts> {
  const [first, rest] = await Promise.all([FIRST[code]!(), isLater() ? REST[code]!().catch(() => null) : null]);
  return { first, rest };
}

/** What games and the server say; where that does not come (null), they say it in English. */
async function gamesTexts(code: string): Promise<Texts | null> {
  try {
    const answer = await fetch(`/api/texts/${code}`);
    return answer.ok ? ((await answer.json()) as Texts) : null;
  } catch {
    return null;
  }
}

/** By `?lang=` a tab has a language of its own. */
function asked(): string | null {
  const given = new URLSearchParams(location.search).get(KEY);
  if (given !== null) passing.setItem(KEY, given);
  return given ?? passing.getItem(KEY);
}

function byCode(files: Record<string, () => Promise<unknown>>): Record<string, File> {
  return Object.fromEntries(Object.entries(files).map(([path, file]) => [path.slice(2, -".json".length), file as File]));
}

function known(codes: readonly string[]): string | null {
  return codes.map(base).find((code) => LANGUAGES.includes(code)) ?? null;
}

function preferred(): readonly string[] {
  return globalThis.navigator?.languages ?? [];
}

const base = (code: string): string => code.toLowerCase().split("-")[0]!;
