import { describe, expect, it } from 'vitest';
import { post, startHost, untilLogged } from './host.ts';

// SIGUSR1 opens Node's debugger by default, and the others end the process. Windows does not have them.
describe.runIf(process.platform !== 'win32')('a signal that the host does not use', () => {
  it.each(['SIGUSR1', 'SIGUSR2', 'SIGIO'] as const)(
    '%s is ignored with a log line',
    async (signal) => {
      const host = await startHost({ args: ['--database', 'memory:'] });
      host.process.kill(signal);
      await untilLogged(host, (log) => log.includes(`"signal":"${signal}"`));
      expect(await post(host.url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
      host.process.kill('SIGTERM');
      expect(await host.exited).toBe(0);
      expect(host.stderr()).not.toContain('Debugger');
    },
  );

  it('does not end a host that is starting', async () => {
    const preload = `
      import { registerHooks } from 'node:module';
      let sent = false;
      registerHooks({ load(url, context, next) {
        if (!sent && url.endsWith('/main.ts')) { sent = true; process.kill(process.pid, 'SIGUSR2'); }
        return next(url, context);
      } });`;
    const host = await startHost({
      args: ['--database', 'memory:'],
      nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(preload)}`],
    });
    host.process.kill('SIGTERM');
    expect(await host.exited).toBe(0);
  });
});
