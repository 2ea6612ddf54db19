// expected: nothing
// (the reach test's: a wire that touches zod in two steps)
export { text } from './good.ts';
