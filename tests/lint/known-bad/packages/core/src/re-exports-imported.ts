// expected: walls/no-reexport
import { ok } from 'neverthrow';

export { ok as fine };
