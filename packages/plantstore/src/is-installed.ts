/** Returns whether an optional peer dependency is installed beside this package. */
export const isInstalled = (name: string): boolean => {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
};

/** Returns the message for a feature whose optional peer dependency is not installed. */
export const missingPackage = (feature: string, name: string): string =>
  `${feature} requires the package ${name}: npm install ${name}, or npm install --global ${name} if plantstore is installed globally`;
