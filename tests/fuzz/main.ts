// `pnpm fuzz`: fuzzes until Ctrl-C, a failure, or `--seconds`; `--seed` and `--path` repeat a failure.
import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    path: { type: 'string' },
  },
});

/** Interval of the reports, in seconds. */
const reportSeconds = 60;

const { path } = values;
let left = Number(values.seconds);
for (let seed = Number(values.seed); left > 0; seed += 1, left -= reportSeconds) {
  const seconds = Math.min(left, reportSeconds);
  const { figures, failure } = await fuzz(seed, seconds, path);
  console.log(figures);
  if (failure !== undefined) {
    console.error(failure);
    process.exitCode = 1;
  }
  if (failure !== undefined || path !== undefined) break;
}
