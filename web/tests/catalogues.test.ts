// Every word that people read can be translated: it is said by `t`, and every catalogue of the pages has it.
import { parse } from "svelte/compiler";
import ts from "typescript";
import { expect, it, vi } from "vitest";
import { holes, type Texts } from "../src/language/catalogue";

/** Pages for those who write programs are in English alone; the language itself says nothing. */
const ELSEWHERE = /^(developers|language)\//;
/** Attributes that are read. */
const READ = new Set(["aria-label", "aria-valuetext", "aria-roledescription", "title", "placeholder", "alt", "label", "text"]);
vi.setConfig({ testTimeout: 60_000 }); // all sources are parsed
const WORD = /[A-Za-z]{2}/;
/** What looks like a sentence, or like the beginning of one. */
const SENTENCE = /^[A-Z][a-z]+(?: |$)|[a-z]{2} [a-z]+ ?/;
/** The same in every language. */
const NAMES = new Set(["Parlour", "Esc", "parlour serve --lan"]);
/** For programs: names of keys, fields and messages, and what a server says before it is translated. */
const UNREAD = new Set([
  "own name", "asked to notify", "asked to push", "Notification", "Board", "Enter", "Escape", "Home", "End", "Space", "given back", "gone there", "the first",
  "a whole number or nothing", "a whole number", ", got text", "of at most ", "of at least ", "out of time", "away too long", "both sides agreed",
]);

const raw = import.meta.glob("../src/**/*.{ts,svelte}", { query: "?raw", import: "default", eager: true }) as Record<string, string>;
const sources = new Map(Object.entries(raw).map(([path, text]) => [path.replace("../src/", ""), text]));
const files = [...sources.keys()].filter((name) => !ELSEWHERE.test(name));
const text = (name: string) => sources.get(name) ?? "";
const catalogues = Object.entries(import.meta.glob("../src/language/*.json", { import: "default", eager: true }) as Record<string, Texts>);

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

function* inside(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* inside(one);
  else if (typeof value === "object" && value !== null) {
    if ("type" in value && typeof value.type === "string") yield value as Node;
    else for (const one of Object.values(value)) yield* inside(one);
  }
}

/** Words in the markup of a component that no `t` says. */
function* bare(node: Node): Generator<string> {
  if (/^Style/.test(node.type) || node.type === "Comment" || node.type === "CallExpression") return;
  if (node.type === "Text" && WORD.test(String(node["data"]))) yield String(node["data"]).trim();
  if (node.type === "Literal" && typeof node["value"] === "string" && SENTENCE.test(node["value"]) && !UNREAD.has(node["value"])) yield node["value"];
  if (node.type === "TemplateElement" && SENTENCE.test((node["value"] as { raw: string }).raw)) yield (node["value"] as { raw: string }).raw;
  if (node.type === "Attribute" && !READ.has(String(node["name"])) && !isCode(node["value"])) return;
  for (const [field, value] of Object.entries(node)) if (field !== "instance" && field !== "module") for (const one of inside(value)) yield* bare(one);
}

const isCode = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value) && (value as Node).type === "ExpressionTag";

/** Sentences in a program that no `t` says. */
function sentences(code: string): string[] {
  const program = ts.createSourceFile("code.ts", code, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isCallExpression(node) && node.expression.getText() === "t") return node.arguments.slice(1).forEach(look);
    const said = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node) ? node.text : "";
    if (SENTENCE.test(said.trim()) && !UNREAD.has(said)) found.push(said);
    ts.forEachChild(node, look);
  };
  look(program);
  return found;
}

const scripts = (name: string) =>
  name.endsWith(".svelte") ? [...text(name).matchAll(/<script[^>]*>(.*?)<\/script>/gs)].map(([, code]) => code!).join("\n") : text(name);

/** Every English text that the pages say. */
const keys = new Set(
  files.flatMap((name) => [...text(name).matchAll(/\bt\(\s*("(?:[^"\\]|\\.)*")/g)].map(([, literal]) => JSON.parse(literal!) as string)),
);

it("is said by t wherever it stands in a component", () => {
  const found = files.filter((name) => name.endsWith(".svelte")).flatMap((name) => {
    const { fragment } = parse(text(name), { modern: true });
    return [...bare(fragment as unknown as Node)].filter((one) => !NAMES.has(one.replace(/ ?· ?/, ""))).map((one) => `${name}: ${one}`);
  });
  expect(found).toEqual([]);
});

it("is said by t wherever it stands in a program", () => {
  const found = files.flatMap((name) => sentences(scripts(name)).map((one) => `${name}: ${one}`));
  expect(found).toEqual([]);
});

it("has its English as a plain text, so that it can be found here", () => {
  const found = files.flatMap((name) => [...text(name).matchAll(/\bt\(\s*([^"\s)][^)]*)\)/g)].map(([whole]) => `${name}: ${whole}`));
  expect(found).toEqual([]);
});

it.each(catalogues)("is in %s, and nothing else is", (_, texts) => {
  expect(Object.keys(texts).filter((english) => !keys.has(english))).toEqual([]);
  expect([...keys].filter((english) => !(english in texts))).toEqual([]);
});

it.each(catalogues)("has in %s the same places for what is put in", (_, texts) => {
  const sorted = (template: string) => holes(template).sort().join();
  const forms = Object.entries(texts).flatMap(([english, entry]) => (typeof entry === "string" ? [entry] : Object.values(entry)).map((one) => [english, one] as const));
  expect(forms.filter(([english, one]) => sorted(english) !== sorted(one))).toEqual([]);
});
