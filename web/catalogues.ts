// The texts of a language in two parts: those that home can say before anything else is loaded, and the rest. Translators
// have one file; which part a text belongs to is read from the sources that home consists of.
import type { Plugin, Rolldown } from "vite";

const ASKED = /\/([a-z]+)\.json\?(first|rest)$/;
const PART = /^\0(.*)\.(first|rest)$/;
const IMPORT = /^\s*(?:import|export) (?!type )(?:[^"]*? from )?"(\.[^"]+)";/gm;

export function catalogues(): Plugin {
  let home: Promise<string> | undefined;
  return {
    name: "catalogues",
    enforce: "pre",
    async resolveId(id, importer) {
      const part = ASKED.exec(id)?.[2];
      const file = part && (await this.resolve(id.split("?")[0]!, importer, { skipSelf: true }));
      return file ? `\0${file.id}.${part}` : null;
    },
    async load(id) {
      const [, file, part] = PART.exec(id) ?? [];
      if (!file) return null;
      this.addWatchFile(file);
      home ??= sourcesOf(this, file.replace(/language\/[^/]*$/, "main.ts")).then((found) => [...found.values()].join());
      const said = await home;
      const texts = Object.entries(JSON.parse(await read(this, file)) as Record<string, unknown>);
      const own = texts.filter(([english]) => (part === "first") === said.includes(JSON.stringify(english)));
      return `export default ${JSON.stringify(Object.fromEntries(own))}`;
    },
  };
}

/** A module and all that come with it, by their paths. */
async function sourcesOf(context: Rolldown.PluginContext, path: string, found = new Map<string, string>()): Promise<Map<string, string>> {
  if (found.has(path)) return found;
  found.set(path, "");
  const source = await read(context, path);
  found.set(path, source);
  for (const [, named] of source.matchAll(IMPORT)) {
    const there = await context.resolve(named!, path, { skipSelf: true });
    if (there && /\.(ts|svelte)$/.test(there.id)) await sourcesOf(context, there.id, found);
  }
  return found;
}

function read(context: Rolldown.PluginContext, path: string): Promise<string> {
  return context.fs.readFile(path, { encoding: "utf8" });
}
