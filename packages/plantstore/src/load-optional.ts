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
    const global = `npm install --global ${name} if plantstore is installed globally`;
    return err(`${feature} requires the package ${name}: npm install ${name}, or ${global}`);
  }
  return ok(await load());
}
