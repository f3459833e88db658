import { expect, test } from "vitest";
import { allWrong, blank, bounds, choiceTitle, explained, fieldOf, fields, filled } from "../src/form";

const SETTINGS = {
  $ref: "#/$defs/Settings",
  $defs: {
    Settings: {
      type: "object",
      properties: {
        preset: { description: "how large", enum: ["advanced", "beginner"], default: "beginner" },
        width: { anyOf: [{ type: "integer", minimum: 1, maximum: 99 }, { type: "null" }], default: null },
        loud: { type: "boolean", default: true },
        motto: { type: "string" },
      },
      required: ["motto"],
    },
  },
};

test("a schema says which fields there are and how they are filled in", () => {
  expect(fields(SETTINGS).map(({ name, kind, optional }) => [name, kind, optional])).toEqual([
    ["preset", "choice", true], ["width", "number", true], ["loud", "yesno", true], ["motto", "text", false],
  ]);
  expect(fields(SETTINGS)[1]).toMatchObject({ title: "Width", min: 1, max: 99 });
});

test("fields begin with their defaults", () => {
  expect(blank(fields(SETTINGS))).toEqual({ preset: "beginner", width: "", loud: true, motto: "" });
});

test("what is empty is left out, numbers are numbers, and nonsense is sent for the server to refuse", () => {
  const list = fields(SETTINGS);
  const values = { preset: "advanced", width: " 12 ", loud: false, motto: "" };
  expect(filled(list, values)).toEqual({ preset: "advanced", width: 12, loud: false, motto: "" });
  expect(filled(list, { ...values, width: "wide" })).toMatchObject({ width: "wide" });
  expect(filled(list, { ...values, width: "" })).not.toHaveProperty("width");
});

test("a refusal is shown at the field that its path names", () => {
  expect(fieldOf("$.config.width", "$.config")).toBe("width");
  expect(fieldOf("$.config.rows[0].x", "$.config")).toBe("rows");
  expect(fieldOf("$.id", "$.config")).toBeNull();
  expect(fieldOf(undefined, "$.config")).toBeNull();
});

test("a refusal is told in words", () => {
  expect(explained("$.config.width: expected int | null, got str")).toBe("Expected a whole number or nothing, got text");
  expect(explained("$.config.width: expected `int` <= 99")).toBe("Expected a whole number of at most 99");
});

test("a yes or no that the game decides unless somebody does is left to it until somebody does", () => {
  const open = (type: object) => ({ anyOf: [type, { type: "null" }], default: null });
  const list = fields({ properties: { lakes: open({ type: "boolean" }), setup: open({ enum: ["arrange", "random"] }) } });
  expect(list.map(({ kind, choices }) => [kind, choices])).toEqual([["choice", [true, false]], ["choice", ["arrange", "random"]]]);
  expect(filled(list, blank(list))).toEqual({});
  expect(filled(list, { lakes: "false", setup: "random" })).toEqual({ lakes: false, setup: "random" });
  expect([true, false, "random"].map((choice) => choiceTitle(choice))).toEqual(["Yes", "No", "Random"]);
});

test("a game says its settings in words, and what it does not say is made of the schema", () => {
  const [preset, width, loud] = fields(SETTINGS, {
    preset: { title: "Field", hint: "", choices: { advanced: { title: "Expert", hint: "99 mines." } } },
    width: { unit: "cells", empty: "as above", group: "Size" },
  });
  expect([preset?.title, preset?.hint, choiceTitle("advanced", preset?.cards), choiceTitle("beginner", preset?.cards)]).toEqual(["Field", "", "Expert", "Beginner"]);
  expect(width).toMatchObject({ title: "Width", unit: "cells", empty: "as above", group: "Size" });
  expect(loud).toMatchObject({ title: "Loud", unit: "", group: "" });
});

test("choices stand in the order in which the game lists them", () => {
  const [preset] = fields(SETTINGS, { preset: { choices: { beginner: { title: "Beginner" }, advanced: { title: "Expert" } } } });
  expect(preset?.choices).toEqual(["beginner", "advanced"]);
  expect(fields(SETTINGS)[0]?.choices).toEqual(["advanced", "beginner"]);
});

test("a number field says its bounds, with times as people say them", () => {
  const only = (property: object, unit: string) => fields({ properties: { one: property } }, { one: { unit } })[0]!;
  expect(bounds(only({ type: "integer", minimum: 1, maximum: 99 }, "cells"))).toBe("1 to 99");
  expect(bounds(only({ type: "integer", minimum: 5, maximum: 604800 }, "seconds"))).toBe("5 seconds to 7 days");
  expect(bounds(only({ type: "integer", minimum: 1 }, "mines"))).toBe("at least 1");
  expect(bounds(only({ type: "number", maximum: 2 }, ""))).toBe("at most 2");
  expect(bounds(only({ type: "string" }, ""))).toBe("");
});

test("a number out of bounds is told at its field before the server is asked, and what is right is not", () => {
  const list = fields(SETTINGS, { width: { unit: "cells" } });
  const at = (width: string) => allWrong(list, { ...blank(list), width });
  for (const wide of ["120", "0", "-3", "1.5", "wide", "1e3"]) expect(at(wide)).toEqual({ width: "Type a number here: 1 to 99." });
  for (const right of ["", " 12 ", "1", "99"]) expect(at(right)).toEqual({});
});

test("a setting that is deprecated is not offered", () => {
  const old = { ...SETTINGS.$defs.Settings.properties, turn_seconds: { anyOf: [{ type: "integer" }, { type: "null" }], default: null, deprecated: true } };
  expect(fields({ type: "object", properties: old }).map(({ name }) => name)).toEqual(["preset", "width", "loud", "motto"]);
});
