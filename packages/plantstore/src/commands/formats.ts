import type { FormatName } from './command.ts';
import type { Format } from './format.ts';

/** The formats by name. Each loads only what it needs: NDJSON takes no CSV parser. */
export const formats: Readonly<Record<FormatName, () => Promise<Format>>> = {
  ndjson: async () => (await import('./ndjson.ts')).ndjson,
  csv: async () => (await import('./csv.ts')).csv,
};

/** Loads the named format, else the format of the file's extension, else NDJSON. */
export async function formatOf(name: FormatName | undefined, file = ''): Promise<Format> {
  return formats[name ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')]();
}
