// A refusal as the page needs it: a code for programs, a sentence for people, and where the fault is.
import type { Problem as Told } from "./wire";

export type Problem = Pick<Told, "code" | "message" | "path">;
