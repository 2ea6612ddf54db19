/** Returns whether an optional peer dependency is installed beside this package. */
export const isInstalled = (name: string): boolean => {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
};
