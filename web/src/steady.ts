// The time by which this page counts seconds: whoever sets the computer's clock moves no clock of a game.

/** Milliseconds since 1970, by the computer's clock as it was when the page was opened. */
export const steady = (): number => performance.timeOrigin + performance.now();

/** By so many milliseconds the two may part without anything having happened. */
const DRIFT = 1000;

/** Tells, each time that it is asked, whether the computer's clock was set meanwhile, or the computer slept: then many
 * browsers have not counted on. */
export function leaps(): () => boolean {
  const apart = () => Date.now() - steady();
  let before = apart();
  return () => {
    const now = apart();
    const leapt = Math.abs(now - before) > DRIFT;
    if (leapt) before = now;
    return leapt;
  };
}
