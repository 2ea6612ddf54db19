import { countResources } from '@plantstore/test-support/count-resources';
import { connectRaw } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { listen, post, responses } from '../../test/listen.ts';

describe('serving a request', () => {
  it('serving a request creates at most 10 promises', async () => {
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
    const counted = countResources();
    const done = wait();
    socket.write(bytes);
    await done;
    const { promises } = counted();
    console.log(`promises per request: ${promises / requests}`);
    expect(promises / requests).toBeLessThanOrEqual(10);
    socket.destroy();
  });
});
