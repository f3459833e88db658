// What is played in a room, in words: its variant, and the settings that somebody who comes to it accepts.
import { blank, choiceTitle, fields, shownAs, type Field } from "./form";
import { inside, told } from "./language/language.svelte";
import { clockTerms } from "./room/clocks";
import { spell } from "./room/waits";
import type { Preset, PublicGame, PublicRoom } from "./wire";

type Values = Record<string, string | boolean>;
type Told = Readonly<Record<string, unknown>>;

/** Presets that are alternatives, and the settings that they are about. */
export interface Row {
  readonly title: string;
  readonly presets: readonly Preset[];
  readonly names: readonly string[];
}

/** The fields of a game's settings, in its own words. */
export function settings({ config_schema, set_up }: PublicGame): Field[] {
  return fields(config_schema, set_up.labels);
}

export function rows({ set_up }: PublicGame): Row[] {
  const all = set_up.presets ?? [];
  const titles = [...new Set(all.map(({ row }) => row ?? ""))];
  return titles.map((title) => {
    const presets = all.filter(({ row }) => (row ?? "") === title);
    return { title, presets, names: [...new Set(presets.flatMap(({ config }) => Object.keys(config ?? {})))] };
  });
}

/** What the fields show at first: what people play who set nothing. */
export function initial(game: PublicGame): Values {
  const list = settings(game), usual = usualOf(game);
  return { ...blank(list), ...Object.fromEntries(list.filter(({ name }) => name in usual).map((one) => [one.name, shownAs(one, usual[one.name])])) };
}

/** The settings that I send when I press and play; what they do not speak of has the game's defaults. */
export function usualOf({ set_up }: PublicGame): Record<string, unknown> {
  return set_up.usual ?? {};
}

/** What the fields show once a preset was chosen; what it does not speak of is as usual, as far as its row is about that. */
export function applied(list: readonly Field[], values: Values, { names }: Row, { config = {} }: Preset): Values {
  const set = list.filter(({ name }) => names.includes(name));
  return { ...values, ...Object.fromEntries(set.map((one) => [one.name, shownAs(one, one.name in config ? config[one.name] : one.initial)])) };
}

/** The preset of a row that the fields show, if it is one. */
export function chosen(list: readonly Field[], values: Values, row: Row): Preset | undefined {
  return row.presets.find((preset) => {
    const wanted = applied(list, values, row, preset);
    return row.names.every((name) => wanted[name] === values[name]);
  });
}

/** The setting that says which variant is played: that of the cards, or one that is called so. */
function variantField(game: PublicGame): Field | undefined {
  return settings(game).find(({ name, kind }) => kind === "choice" && name === (game.set_up.cards ?? "variant"));
}

/** What the variant of a room is called: the title of its card. */
export function variantOf(game: PublicGame, config: Told): string | null {
  const field = variantField(game);
  const value = field && config[field.name];
  return field && typeof value === "string" ? choiceTitle(value, field.cards) : null;
}

/** A game as people call it, with its variant where it is not the usual one. */
export function titleOf(game: PublicGame, config: Told): string {
  const field = variantField(game);
  const variant = variantOf(game, config);
  return variant === null || config[field?.name ?? ""] === field?.initial ? told(game.display_name) : `${told(game.display_name)}: ${variant}`;
}

/** What somebody accepts who sits down: the variant, a preset of each row, whatever else is not as usual, and the clock. */
export function terms(game: PublicGame, { config, clock }: Pick<PublicRoom, "config" | "clock">): string[] {
  const list = settings(game).filter(({ name }) => name in config);
  const values = Object.fromEntries(list.map((one) => [one.name, shownAs(one, config[one.name])]));
  const presets = rows(game).flatMap((row) => {
    const preset = row.names.every((name) => name in values) ? chosen(list, values, row) : undefined;
    return preset ? [{ title: told(preset.title), names: row.names }] : [];
  });
  const said = new Set([variantField(game)?.name, ...presets.flatMap(({ names }) => names)]);
  const others = list.filter((one) => !said.has(one.name) && values[one.name] !== shownAs(one, one.initial));
  const variant = variantOf(game, config);
  return [...(variant === null ? [] : [variant]), ...presets.map(({ title }) => title), ...others.map((one) => setting(one, config[one.name])), ...(clock ? clockTerms(clock) : [])];
}

function setting({ title, unit, cards }: Field, value: unknown): string {
  if (value === true) return title;
  if (typeof value === "number" && unit === "seconds") return `${title}: ${spell(value)}`;
  if (typeof value === "number") return `${title}: ${value}${unit && ` ${told(unit)}`}`;
  return `${title}: ${inside(choiceTitle(value, cards))}`;
}
