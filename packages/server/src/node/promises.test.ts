import { createHook } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { listen, post, responses } from '../../test/listen.ts';
import { connectRaw } from '../../test/raw-http.ts';

/** Counts the promises that are made while a task runs, those of the task's own code included. */
const countPromises = async (task: () => Promise<void>): Promise<number> => {
  let count = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') count += 1;
    },
  }).enable();
  await task();
  hook.disable();
  return count;
};

describe('a request', () => {
  it('makes at most 10 promises', async () => {
    const { port } = await listen();
    const { socket, received } = await connectRaw(port);
    const requests = 50;
    const bytes = Array.from({ length: requests }, (_, id) => post(id)).join('');
    const isDone = responses(requests);
    const wait = async () =>
      new Promise<void>((resolve) => {
        socket.on('data', () => {
          if (isDone(received())) resolve();
        });
      });
    const promises = await countPromises(async () => {
      const done = wait();
      socket.write(bytes);
      await done;
    });
    console.log(`promises a request: ${promises / requests}`);
    expect(promises / requests).toBeLessThanOrEqual(10);
    socket.destroy();
  });
});
