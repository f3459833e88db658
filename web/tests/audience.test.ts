import { expect, test } from "vitest";
import { audience, company, readers } from "../src/room/audience";

test("it is told who may watch, and that players and spectators talk apart where they do", () => {
  expect(audience({ watching: "anyone", apart: false })).toBe("Anyone may watch.");
  expect(audience({ watching: "link", apart: true })).toBe("Whoever has the link may watch. Players and spectators talk apart.");
});

test("where nobody may watch, nobody talks apart", () => {
  expect(audience({ watching: "nobody", apart: true })).toBe("Only those who play see this room.");
  expect(readers({ watching: "nobody", apart: true }, true)).toBe("");
});

test("where they talk apart, each side is told who reads what it says; elsewhere everybody does", () => {
  expect(readers({ watching: "link", apart: true }, true)).toBe("Only players read this");
  expect(readers({ watching: "link", apart: true }, false)).toBe("Only spectators read this");
  expect(readers({ watching: "link", apart: false }, false)).toBe("");
});

test("one plays and several play", () => {
  expect(company(["Ann"], false, true)).toBe("Ann plays here. Every seat is taken, but you can watch.");
  expect(company(["Ann", "Bob"], false, true)).toBe("Ann and Bob play here. Every seat is taken, but you can watch.");
  expect(company(["Ann"], false, false)).toBe("Ann plays here. Every seat is taken, and only those who play may see this room.");
});

test("one is waiting and several are", () => {
  expect(company([], true, true)).toBe("The table is free.");
  expect(company(["Ann"], true, true)).toBe("Ann is waiting for you.");
  expect(company(["Ann", "Bob"], true, true)).toBe("Ann and Bob are waiting for you.");
});
