import { expect, it } from "vitest";
import { Catalogue, filled } from "../src/language/catalogue";
import { listed, t, told } from "../src/language/language.svelte";
import { pseudo } from "../src/language/pseudo";

const german = new Catalogue("de", {
  "Your turn": "Du bist dran",
  "Waiting for {who}": "Warten auf {who}",
  "{who} wins: {why}": "{who} gewinnt: {why}",
  "three in a row": "drei in einer Reihe",
  "{piece} {from}-{to} takes a {other}": "{piece} {from}-{to} schlägt {other}",
  "{piece} {from}-{to} {end}": "{piece} {from}-{to} {end}",
  miner: "Mineur",
  "{count} points": { one: "{count} Punkt", other: "{count} Punkte" },
  "At {place} by {who}": "Von {who} bei {place}",
});

it("is looked up by its English", () => {
  expect(german.find("Your turn")).toBe("Du bist dran");
  expect(german.find("Your move")).toBe(null);
});

it("fits a sentence that was put together elsewhere to its template, and keeps what is said in it", () => {
  expect(german.find("Waiting for {0}")).toBe("Warten auf {0}");
});

it("translates what is said in a sentence, too, where it knows it", () => {
  expect(german.find("{1} wins: three in a row")).toBe("{1} gewinnt: drei in einer Reihe");
  expect(german.find("{1} wins: by a whisker")).toBe("{1} gewinnt: by a whisker");
});

it("takes the template that says most of a sentence", () => {
  expect(german.find("miner a1-a2 takes a miner")).toBe("Mineur a1-a2 schlägt Mineur");
});

it("may say things in another order", () => {
  expect(german.fill("At {place} by {who}", { place: "a1", who: "Ann" })).toBe("Von Ann bei a1");
});

it("has the plural forms of its language", () => {
  expect([1, 5].map((count) => german.find(`${count} points`))).toEqual(["1 Punkt", "5 Punkte"]);
});

it("is English where nothing else was chosen, and leaves the names of seats for later", () => {
  expect(t("{who} has {count} points", "Ann", 3)).toBe("Ann has 3 points");
  expect(told("{0}: top left")).toBe("{0}: top left");
  expect(listed(["Ann", "Bob"])).toBe("Ann and Bob");
});

it("leaves what a name says as it is, even if that looks like a place for another", () => {
  expect(filled("{who} and {other}", { who: "{other}", other: "Bob" })).toBe("{other} and Bob");
});

it("has a language for tests that is at least 40 % longer and touches neither names nor numbers", () => {
  const english = "Waiting for the other player";
  expect(pseudo(english).length).toBeGreaterThanOrEqual(1.4 * english.length - 4);
  expect(pseudo(english)).not.toMatch(/[a-z]{2}/);
  expect(pseudo("{0} {who} 8/5 13")).toBe("{0} {who} 8/5 13");
});
