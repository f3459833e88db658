import { expect, test } from "vitest";
import { replayPath, roomPath, routeOf } from "../src/routes";

test("an address leads to a page", () => {
  expect(routeOf("/")).toEqual({ page: "home" });
  expect(routeOf(roomPath("ABCD"))).toEqual({ page: "room", room: "ABCD" });
  expect(routeOf(replayPath("my.room"))).toEqual({ page: "replay", room: "my.room" });
});

test("an address that means nothing leads nowhere", () => {
  expect(routeOf("/r/")).toEqual({ page: "nowhere" });
  expect(routeOf("/r/a b")).toEqual({ page: "nowhere" });
  expect(routeOf(`/r/${"x".repeat(65)}`)).toEqual({ page: "nowhere" });
});
