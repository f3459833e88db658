// Plays what is written in the score, with nothing but oscillators: no file is loaded. Loaded itself after the first gesture.
import type { Sound } from "./cues";
import { SCORE, type Note } from "./score";

const VOLUME = 0.6;
/** Milliseconds after which a sound belongs to nothing any more that is to be seen. */
const LATE = 200;

let context: AudioContext | null = null;

/** Have everything at hand: the first time that takes a browser longer than a frame of a moving board may take. */
export function prepare(): AudioContext {
  return (context ??= new AudioContext());
}

/** Play a sound now or never; where the browser has none or does not allow it, nothing happens. */
export async function play(sound: Sound, clock = () => performance.now()): Promise<void> {
  try {
    const context = prepare();
    if (!isHeard(context)) { // suspended, or on an iPhone interrupted
      const asked = clock();
      await context.resume(); // which may wait for a gesture, while one sound comes after the other
      if (clock() - asked > LATE || !isHeard(context)) return;
    }
    const now = context.currentTime + 0.02;
    for (const note of SCORE[sound]) strike(context, note, now + note.at);
  } catch {
    // A page without sound is as good.
  }
}

const isHeard = ({ state }: AudioContext): boolean => state === "running";

/** A tone that begins at once and dies away; wood is short and dull, a bell has an overtone. */
function strike(context: AudioContext, { kind, hertz, loud, long }: Note, at: number): void {
  const partials = kind === "bell" ? [[1, 1], [2.76, 0.25]] as const : [[1, 1], [1.52, 0.5], [2.4, 0.3]] as const;
  for (const [ratio, share] of partials) {
    const tone = new OscillatorNode(context, { type: kind === "bell" ? "sine" : "triangle", frequency: hertz * ratio });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(VOLUME * loud * share, at + 0.004);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + long / ratio ** 0.5);
    if (kind === "knock") tone.frequency.exponentialRampToValueAtTime(hertz * ratio * 0.7, at + long);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + long);
  }
}
