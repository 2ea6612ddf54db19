const realNow = performance.now.bind(performance);
let skipped = 0;
performance.now = () => realNow() + skipped;

/** Makes the pause before a file is opened again pass at once. */
export const skipReopenPause = (): void => {
  skipped += 2_000;
};
