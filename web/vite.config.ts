import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { catalogues } from "./catalogues.ts";

const SERVER = "http://127.0.0.1:8000";
// The one for players, and those for developers; none has to load what is another's.
const PAGES = ["index.html", "api-docs.html", "relay.html", "panel.html"];
// Small modules that nearly every page needs: one file, for each that home names costs on a slow line.
const COMMON = { name: "common", test: /src\/(players|form|terms|(games|here|mine)\.svelte|room\/(waits|clocks|intent)|lobby\/rooms)\.ts$|src\/ui\/(BotMark|Marked)\.svelte/ };

// `vite build` writes the pages into the Python package; `vite build --mode gallery` one that draws the stories of
// tests/scenes, for looking at boards without a server.
export default defineConfig(({ mode }) => ({
  root: mode === "gallery" ? "gallery" : ".",
  plugins: [catalogues(), svelte()],
  build: {
    outDir: mode === "gallery" ? "../dist-gallery" : "../src/parlour/web",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the Content-Security-Policy allows no data: addresses
    target: "es2022",
    ...(mode === "gallery" ? {} : { rolldownOptions: { input: PAGES, output: { codeSplitting: { groups: [COMMON], includeDependenciesRecursively: false } } } }),
  },
  server: {
    fs: { allow: [".."] },
    proxy: { "/api": SERVER, "/socket": { target: SERVER, ws: true }, "^/g/": { target: SERVER, ws: true } },
  },
  // However slow the machine is: a test that hangs is ended all the same.
  test: { root: ".", include: ["tests/**/*.test.ts"], testTimeout: 60_000 },
}));
