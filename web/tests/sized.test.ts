// A list that scrolls, when it has another size.
import { beforeEach, expect, test, vi } from "vitest";
import { whenSized } from "../src/ui/sized";

let resized: () => void;
let scrolled: () => void;
const list = { scrollHeight: 500, scrollTop: 400, clientHeight: 100, addEventListener: (_: string, look: () => void) => (scrolled = look) };
vi.stubGlobal("ResizeObserver", class {
  constructor(act: () => void) {
    resized = act;
  }
  observe() {}
});

function scrollTo(top: number): void {
  list.scrollTop = top;
  scrolled();
}

function size(height: number): void {
  list.clientHeight = height;
  resized();
}

const act = vi.fn();
let must: boolean;

beforeEach(() => {
  must = false;
  Object.assign(list, { scrollTop: 400, clientHeight: 100 });
  whenSized(act, () => must)(list as unknown as HTMLElement);
  resized();
  act.mockReset();
});

test("a list at its end stays there, smaller or larger", () => {
  size(60);
  size(200);
  expect(act).toHaveBeenCalledTimes(2);
});

test("whoever reads older lines is left there, also by a keyboard that comes up", () => {
  scrollTo(100);
  size(60);
  expect(act).not.toHaveBeenCalled();
  must = true; // a move that is looked at
  size(70);
  expect(act).toHaveBeenCalledOnce();
});

test("a list that was folded begins at its end", () => {
  scrollTo(100);
  size(0);
  expect(act).not.toHaveBeenCalled();
  size(100);
  expect(act).toHaveBeenCalledOnce();
});
