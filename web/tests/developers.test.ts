import { describe, expect, it } from "vitest";
import { callsOf, type OpenApi, resolved } from "../src/developers/calls";
import { addressOf, bodyOf } from "../src/developers/envelopes";

const part = (schema: object) => ({ content: { "application/json": { schema } } });
const API: OpenApi = {
  paths: {
    "/api/rooms": {
      post: {
        summary: "Open a room.",
        requestBody: part({ $ref: "#/components/schemas/NewRoom" }),
        responses: { "429": part({}), "201": part({ $ref: "#/components/schemas/Room" }), "400": part({}) },
      },
    },
    "/health": { get: { summary: "Is it well?", responses: { "200": part({ type: "string" }) } } },
  },
  components: {
    schemas: {
      NewRoom: { type: "object", properties: { game: { type: "string" }, config: {} } },
      Room: { type: "object", properties: { id: { type: "string" } } },
    },
  },
};

describe("the list of calls", () => {
  it("has every call with what it takes, gives and refuses", () => {
    expect(callsOf(API)).toEqual([
      {
        title: "POST /api/rooms",
        summary: "Open a room.",
        shapes: [
          { title: "takes", shape: '{\n "game": "string",\n "config": "anything"\n}' },
          { title: "gives 201", shape: '{\n "id": "string"\n}' },
        ],
        refused: ["400", "429"],
      },
      { title: "GET /health", summary: "Is it well?", shapes: [{ title: "gives 200", shape: '"string"' }], refused: [] },
    ]);
  });

  it("names what stands within itself, and goes no deeper", () => {
    const block = { properties: { text: { type: "string" }, blocks: { items: { $ref: "#/components/schemas/Block" } } } };
    const api = { ...API, components: { schemas: { Block: block } } };
    expect(resolved({ $ref: "#/components/schemas/Block" }, api)).toEqual({ text: "string", blocks: ["Block"] });
  });

  it("says what is one of several in one line", () => {
    const either = { anyOf: [{ $ref: "#/components/schemas/Room" }, { items: { type: "string" } }, { type: "null" }] };
    expect(resolved(either, API)).toBe('{"id": "string"} or ["string"] or null');
  });
});

describe("relays", () => {
  it("are where their names say, whatever is in them", () => {
    const at = (...[room, who, last]: [string, string, string]) => addressOf(room, who, last, "https://here/relay").href;
    expect(at("red/a b?", "ann", "3")).toBe("wss://here/g/red/a%20b%3F?id=ann&lastnum=3");
    expect(at("red", "", "3")).toBe("wss://here/g/red?");
  });

  it("carry bytes today, and JSON in the first generation", () => {
    expect(bodyOf({ Num: 1, Body: "4pmg" })).toBe("♠");
    expect(bodyOf({ Num: 1, Body: null })).toBe("");
    expect(bodyOf({ Body: { turn: 1 } })).toBe("");
  });
});
