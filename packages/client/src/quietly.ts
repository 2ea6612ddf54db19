/** Runs a clean-up whose failure nobody could use. */
export const quietly = async (cleanUp: () => unknown): Promise<void> => {
  try {
    await cleanUp();
  } catch {
    // What cannot be cleaned up is left to the garbage collector.
  }
};
