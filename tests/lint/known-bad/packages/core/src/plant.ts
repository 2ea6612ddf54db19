// expected: nothing
import * as z from 'zod/mini';

export const Text = z.string();
