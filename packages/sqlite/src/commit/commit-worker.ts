import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Opening } from '../open/owned-database.ts';
import type { FromWorker, ToWorker } from './owner.ts';
import { openStore } from './store.ts';

/** Opens the file, and commits batches until a commit fails or the file must be closed. */
function runWorker(port: MessagePort, opening: Opening): void {
  const send = (message: FromWorker) => port.postMessage(message);
  const opened = openStore(opening);
  if (opened.isErr()) {
    send({ kind: 'cannot-open', error: opened.error });
    // What other code has left in the event loop must not keep the thread alive.
    process.exit();
  }
  const store = opened.value;
  send({ kind: 'opened', file: store.file });
  port.on('message', (message: ToWorker) => {
    const reply = message.kind === 'commit' ? store.commit(message.batch) : undefined;
    if (reply !== undefined) send(reply);
    if (reply?.kind === 'committed' || reply?.kind === 'refused') return store.checkpoint();
    store.close();
    process.exit();
  });
}

if (parentPort !== null) runWorker(parentPort, workerData as Opening);
