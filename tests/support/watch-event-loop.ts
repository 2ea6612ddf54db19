import { Worker } from 'node:worker_threads';
import { expect, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Maximum time of a test, in milliseconds. */
    readonly testTimeout: number;
  }
}

// As text, because Vitest does not compile the files of threads.
const watch = `
const { writeSync } = require('node:fs');
const { parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads');
const { turns, limitMs } = workerData;
while (Atomics.wait(turns, 0, Atomics.load(turns, 0), limitMs) !== 'timed-out');
let file;
for (let next; (next = receiveMessageOnPort(parentPort)); file = next.message);
writeSync(2, file + ' has not yielded for ' + limitMs / 1000 + ' s; its process is killed\\n');
process.kill(process.pid, 'SIGKILL');
`;

// A test that never yields, such as a loop of microtasks, gets no timeout and no signal: a thread has to end its process.
// Vitest then reports that the process has ended. The files of a process share the thread.
const shared = globalThis as { watchdog?: Worker };
shared.watchdog ??= startWatchdog(inject('testTimeout'));
shared.watchdog.postMessage(expect.getState().testPath);

function startWatchdog(limitMs: number): Worker {
  const turns = new Int32Array(new SharedArrayBuffer(4));
  const countTurn = () => {
    Atomics.add(turns, 0, 1);
    Atomics.notify(turns, 0);
  };
  setInterval(countTurn, 1_000).unref();
  const workerData = { turns, limitMs };
  const watchdog = new Worker(watch, { eval: true, workerData, execArgv: [], env: {} });
  watchdog.unref();
  return watchdog;
}
