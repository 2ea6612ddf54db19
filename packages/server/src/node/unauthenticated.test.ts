import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { head, listen, responses } from '../../test/listen.ts';

describe('an unauthenticated client', () => {
  it('gets the answer before it sends its body', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Content-Type: application/json', 'Content-Length: 900']));
    expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 401 }]);
    socket.destroy();
  });

  it.each([
    ['below maxBodyBytes', 200_000_000],
    ['above maxBodyBytes', 1000],
  ])('cannot make the server keep its body in memory (%s)', async (_, limit) => {
    const { port } = await listen({ maxBodyBytes: limit });
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Content-Type: application/json', 'Content-Length: 100000000']));
    await until(responses(1));
    const megabyte = Buffer.alloc(1_000_000);
    const before = memoryInUse();
    for (let sent = 0; sent < 60; sent += 1) {
      await new Promise<void>((resolve) => {
        socket.write(megabyte, () => resolve());
      });
    }
    // The memory of dropped buffers is released some time after their collection.
    await expect.poll(() => memoryInUse() - before, { timeout: 4_000 }).toBeLessThan(20_000_000);
    socket.destroy();
  });
});
