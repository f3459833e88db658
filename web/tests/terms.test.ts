import { expect, test } from "vitest";
import { blank } from "../src/form";
import { applied, chosen, initial, rows, settings, terms, titleOf, usualOf } from "../src/terms";
import type { PublicGame } from "../src/wire";

const GAME = {
  name: "gammon", display_name: "Gammon",
  config_schema: {
    properties: {
      variant: { enum: ["gammon", "fevga"], default: "gammon" },
      match: { enum: ["cash", "five"], default: "cash" },
      crawford: { type: "boolean", default: false },
      turn: { anyOf: [{ type: "integer", minimum: 5 }, { type: "null" }], default: null },
      loud: { type: "boolean", default: false },
    },
  },
  set_up: {
    cards: "variant",
    presets: [
      { title: "Casual", row: "Match" },
      { title: "5 points", row: "Match", config: { match: "five", crawford: true } },
      { title: "No clock", row: "Time" },
      { title: "A minute a turn", row: "Time", config: { turn: 60 } },
    ],
    labels: { variant: { choices: { fevga: { title: "Fevga" } } }, turn: { title: "Time for a turn", unit: "seconds" } },
  },
} as unknown as PublicGame;
const PLAIN = { ...GAME, set_up: {} } as PublicGame;
const USUAL = { variant: "gammon", match: "cash", crawford: false, turn: null, loud: false };

test("presets of one row are alternatives: each sets all that the row is about", () => {
  const list = settings(GAME), [match, time] = rows(GAME);
  expect([match?.names, time?.names]).toEqual([["match", "crawford"], ["turn"]]);
  const five = applied(list, { ...blank(list), turn: "60" }, match!, match!.presets[1]!);
  expect(five).toMatchObject({ match: "five", crawford: true, turn: "60" });
  expect(applied(list, five, match!, match!.presets[0]!)).toMatchObject({ match: "cash", crawford: false, turn: "60" });
});

test("the fields show a preset, or none once they were changed by hand", () => {
  const list = settings(GAME), [match] = rows(GAME);
  expect(chosen(list, blank(list), match!)?.title).toBe("Casual");
  expect(chosen(list, { ...blank(list), match: "five" }, match!)).toBeUndefined();
});

test("a form begins with what people usually play, which is sent where nothing is set; other games begin with the defaults", () => {
  const usual = { ...GAME, set_up: { ...GAME.set_up, usual: { crawford: true } } } as PublicGame;
  expect(initial(usual)).toEqual({ ...blank(settings(GAME)), crawford: true });
  expect(usualOf(usual)).toEqual({ crawford: true });
  expect(initial(GAME)).toEqual(blank(settings(GAME)));
  expect(usualOf(GAME)).toEqual({});
});

test("a room is called by its variant, unless that is the usual one", () => {
  expect(titleOf(GAME, USUAL)).toBe("Gammon");
  expect(titleOf(GAME, { ...USUAL, variant: "fevga" })).toBe("Gammon: Fevga");
  expect(titleOf(PLAIN, { ...USUAL, variant: "fevga" })).toBe("Gammon: Fevga");
  expect(titleOf(GAME, {})).toBe("Gammon");
});

test("whoever sits down is told the variant, the match, the clock, and what else is not as usual", () => {
  expect(terms(GAME, { config: USUAL, clock: null })).toEqual(["Gammon", "Casual", "No clock"]);
  expect(terms(GAME, { config: { ...USUAL, variant: "fevga", match: "five", crawford: true, turn: 60, loud: true }, clock: null })).toEqual(["Fevga", "5 points", "A minute a turn", "Loud"]);
  expect(terms(GAME, { config: { ...USUAL, match: "five", turn: 90 }, clock: null })).toEqual(["Gammon", "Match: five", "Time for a turn: 90 seconds"]);
});

test("a game that says nothing has its settings told by their names, and a room of an older version has none to tell", () => {
  expect(terms(PLAIN, { config: { ...USUAL, turn: 60 }, clock: null })).toEqual(["Gammon", "Turn: 60"]);
  expect(terms(GAME, { config: {}, clock: null })).toEqual([]);
});

test("the clock of the room is among what is accepted", () => {
  expect(terms(PLAIN, { config: USUAL, clock: { kind: "turn", seconds: 60, away: { seconds: 300 } } }).slice(-2)).toEqual(["1 minute a turn", "Lost after 5 minutes away"]);
});
