import { expect, test } from "vitest";
import { blank, choiceTitle, explained, fieldOf, fields, filled } from "../src/form";

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
  expect([true, false, "random"].map(choiceTitle)).toEqual(["Yes", "No", "Random"]);
});
