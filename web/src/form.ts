// A form from a JSON schema: which fields there are, and what was filled in. A game may say it in words (its labels).
// Numbers out of bounds are told here; everything else is for the server to judge.
import { t, told } from "./language/language.svelte";
import { spell } from "./room/waits";
import type { Card, Label } from "./wire";

type Schema = Record<string, unknown>;

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly hint: string;
  readonly kind: "choice" | "number" | "yesno" | "text" | "json";
  readonly choices: readonly unknown[];
  readonly initial: unknown;
  /** It may be left empty, and is then left out. */
  readonly optional: boolean;
  /** A choice that somebody else makes unless it is made here: the game, by its preset. */
  readonly open: boolean;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly whole: boolean;
  /** What a number counts. */
  readonly unit: string;
  /** What it means to leave it empty. */
  readonly empty: string;
  /** The heading under which it stands. */
  readonly group: string;
  /** The choices in words, by their value. */
  readonly cards: Readonly<Record<string, Card>>;
}

/** The fields of an object's schema, in the words of its labels; what is deprecated is for older clients alone. */
export function fields(schema: Schema, labels: Readonly<Record<string, Label>> = {}): Field[] {
  const root = resolved(schema, schema);
  const required = new Set((root["required"] as string[] | undefined) ?? []);
  const properties = (root["properties"] ?? {}) as Record<string, Schema>;
  const offered = Object.entries(properties).filter(([, given]) => given["deprecated"] !== true);
  return offered.map(([name, given]) => field(name, given, schema, required.has(name), labels[name] ?? {}));
}

function field(name: string, given: Schema, root: Schema, required: boolean, label: Label): Field {
  const all = resolved(given, root);
  const either = (all["anyOf"] as Schema[] | undefined)?.map((one) => resolved(one, root)) ?? [];
  const kinds = either.filter((one) => one["type"] !== "null");
  const type = kinds.length === 1 ? { ...all, ...kinds[0] } : all;
  const initial = given["default"] ?? all["default"] ?? null;
  const open = initial === null && kinds.length < either.length;
  const kind = kindOf(type, kinds.length > 1);
  const yesOrNothing = kind === "yesno" && open; // neither yes nor no, so not a box to tick
  return {
    name,
    title: told(label.title || titled(name)),
    hint: told(label.hint ?? String(given["description"] ?? all["description"] ?? "")),
    kind: yesOrNothing ? "choice" : kind,
    choices: yesOrNothing ? [true, false] : inOrder((type["enum"] as unknown[] | undefined) ?? [], Object.keys(label.choices ?? {})),
    initial,
    optional: !required,
    open,
    min: (type["minimum"] ?? exclusive(type["exclusiveMinimum"], 1)) as number | undefined,
    max: (type["maximum"] ?? exclusive(type["exclusiveMaximum"], -1)) as number | undefined,
    whole: type["type"] === "integer",
    unit: label.unit ?? "",
    empty: label.empty ? told(label.empty) : open ? t("as usual") : "",
    group: told(label.group ?? ""),
    cards: label.choices ?? {},
  };
}

/** The choices as the game lists them: a schema has them by the alphabet. */
function inOrder(choices: readonly unknown[], listed: readonly string[]): unknown[] {
  const place = (choice: unknown) => (listed.includes(String(choice)) ? listed.indexOf(String(choice)) : listed.length);
  return [...choices].sort((one, other) => place(one) - place(other));
}

function exclusive(bound: unknown, by: number): number | undefined {
  return typeof bound === "number" ? bound + by : undefined;
}

function kindOf(type: Schema, mixed: boolean): Field["kind"] {
  if (type["enum"]) return "choice";
  if (mixed) return "json";
  switch (type["type"]) {
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "yesno";
    case "string":
      return "text";
    default:
      return "json";
  }
}

function resolved(schema: Schema, root: Schema): Schema {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return schema;
  const found = reference
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((at, key) => (at as Schema | undefined)?.[key], root);
  return found === undefined ? {} : { ...resolved(found as Schema, root), ...without(schema, "$ref") };
}

function without(schema: Schema, key: string): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}

/** What each field shows at first. */
export function blank(list: readonly Field[]): Record<string, string | boolean> {
  return Object.fromEntries(list.map((one) => [one.name, shownAs(one, one.initial)]));
}

/** A value as its field shows it. */
export function shownAs({ kind, choices, open }: Field, value: unknown): string | boolean {
  if (kind === "yesno") return value === true;
  if (kind === "choice") return String(value ?? (open ? "" : (choices[0] ?? "")));
  if (kind === "json") return value == null ? "" : JSON.stringify(value);
  return value == null ? "" : String(value);
}

/** Units of time, in seconds. */
const SECONDS: Readonly<Record<string, number>> = { seconds: 1, minutes: 60 };

/** A unit in words. */
export function unitWord(unit: string): string {
  if (unit === "seconds") return t("seconds");
  return unit === "minutes" ? t("minutes") : told(unit);
}

/** Which numbers a field takes, in words; nothing where any will do. */
export function bounds({ kind, min, max, unit }: Field): string {
  if (kind !== "number") return "";
  const said = (count: number) => (unit in SECONDS ? spell(count * (SECONDS[unit] ?? 1)) : String(count));
  if (min !== undefined && max !== undefined) return t("{least} to {most}", said(min), said(max));
  if (min !== undefined) return t("at least {least}", said(min));
  return max !== undefined ? t("at most {most}", said(max)) : "";
}

/** What is wrong with a number that was typed, before the server is asked; null: nothing. */
export function wrong(one: Field, value: string | boolean | undefined): string | null {
  if (one.kind !== "number" || typeof value !== "string") return null;
  const text = value.trim();
  if (text === "" && (one.open || one.optional)) return null;
  const number = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : null;
  const fits = number !== null && (!one.whole || Number.isInteger(number)) && number >= (one.min ?? number) && number <= (one.max ?? number);
  if (fits) return null;
  const range = bounds(one);
  return range ? t("Type a number here: {range}.", range) : t("Type a number here.");
}

/** What is wrong with numbers, by field. */
export function allWrong(list: readonly Field[], values: Record<string, string | boolean>): Record<string, string> {
  return Object.fromEntries(list.flatMap((one) => {
    const fault = wrong(one, values[one.name]);
    return fault === null ? [] : [[one.name, fault]];
  }));
}

/** What was filled in, as the server takes it. What is empty is left out, what is no number is sent as it is. */
export function filled(list: readonly Field[], values: Record<string, string | boolean>): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const one of list) {
    const value = values[one.name];
    if (value === undefined || (value === "" && one.kind !== "text")) continue;
    if (value === "" && one.optional) continue;
    all[one.name] = read(one, value);
  }
  return all;
}

function read(one: Field, value: string | boolean): unknown {
  if (typeof value === "boolean") return value;
  const text = value.trim();
  switch (one.kind) {
    case "choice":
      return one.choices.find((choice) => String(choice) === value) ?? value;
    case "number":
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : value;
    case "json":
      return parsed(text);
    default:
      return value;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `board_size` is shown as *Board size*. */
export function titled(name: string): string {
  const words = name.replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** How one of several is called. */
export function choiceTitle(choice: unknown, cards: Readonly<Record<string, Card>> = {}): string {
  const card = cards[String(choice)];
  if (card) return told(card.title);
  return typeof choice === "boolean" ? (choice ? t("Yes") : t("No")) : told(titled(String(choice)));
}

/** The field that a refusal speaks of: `$.config.width` is *width*. */
export function fieldOf(path: string | null | undefined, under: string): string | null {
  if (!path?.startsWith(`${under}.`)) return null;
  return path.slice(under.length + 1).split(/[.[]/)[0] ?? null;
}

/** A refusal as it stands at its field: without the path, in words. */
export function explained(message: string): string {
  const plain = message
    .replace(/^\$[^:]*: /, "")
    .replace(/`/g, "")
    .replace(/\bint \| null\b/, "a whole number or nothing")
    .replace(/\bint\b/, "a whole number")
    .replace(/, got str$/, ", got text")
    .replace(/<=\s*/, "of at most ")
    .replace(/>=\s*/, "of at least ");
  const said = told(plain);
  return said.charAt(0).toUpperCase() + said.slice(1);
}
