import { memoryInUse } from '@plantstore/test-support/memory';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { describe, expect, it } from 'vitest';
import { head, listen, responses } from '../../test/listen.ts';

describe('an unauthenticated client', () => {
  it('has the answer before any of the body is sent', async () => {
    const { port } = await listen();
    const { socket, until } = await connectRaw(port);
    socket.write(head(['Host: a', 'Content-Type: application/json', 'Content-Length: 900']));
    expect(parseResponses(await until(responses(1)))).toMatchObject([{ status: 401 }]);
    socket.destroy();
  });

  it.each([
    ['within the limit', 200_000_000],
    ['past the limit', 1000],
  ])('has nothing of a body kept in memory (%s)', async (_, limit) => {
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
    // The memory of dropped buffers is given back some time after their collection.
    await expect.poll(() => memoryInUse() - before, { timeout: 4_000 }).toBeLessThan(20_000_000);
    socket.destroy();
  });
});
