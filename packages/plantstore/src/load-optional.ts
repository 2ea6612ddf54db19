import { err, ok, type Result } from 'neverthrow';

/** Loads an optional peer dependency for a feature. The error is a message for the operator. */
export async function loadOptional<Module>(
  name: string,
  feature: string,
  load: () => Promise<Module>,
): Promise<Result<Module, string>> {
  try {
    import.meta.resolve(name);
  } catch {
    return err(
      `${feature} requires the package ${name}: npm install ${name}, or npm install --global ${name} if plantstore is installed globally`,
    );
  }
  return ok(await load());
}
