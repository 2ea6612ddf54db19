const realNow = performance.now.bind(performance);
let skipped = 0;
performance.now = () => realNow() + skipped;

/** Advances the clock past the pause before a file is opened again. */
export const skipReopenPause = (): void => {
  skipped += 10_000;
};
