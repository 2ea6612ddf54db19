/**
 * A stand-in for systemctl, with the units that are installed in the folder of a machine. A socket
 * is held by a process that starts its service when a client connects, and again after each exit:
 * as with systemd, a stop of the service leaves the socket open.
 */
import { spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { machine, onMachine, program, readVariables } from './machine.ts';

const { root } = machine;
const units = `${root}/etc/systemd/system`;
const pidFile = (unit: string) => `${root}/run/${unit}.pid`;

/** Returns the process of a unit, if it runs. A process that has ended and was not waited for has no command line. */
const pidOf = (unit: string): number | undefined => {
  if (!existsSync(pidFile(unit))) return undefined;
  const pid = Number(readFileSync(pidFile(unit), 'utf8'));
  const commandLine = `/proc/${pid}/cmdline`;
  return existsSync(commandLine) && readFileSync(commandLine, 'utf8') !== '' ? pid : undefined;
};

/** `plantstore@1.service` has the file `plantstore@.service`. */
const fileOf = (unit: string) => `${units}/${unit.replace(/@\d/, '@')}`;

const variablesOf = (service: string) =>
  readVariables([fileOf(service), ...globSync(`${fileOf(service)}.d/*.conf`).toSorted()]);

const portOf = (): number =>
  Number(readVariables([`${root}/etc/plantstore/settings.env`])['PLANTSTORE_PORT']);

/** Returns arguments of `sh` that write the id of the process and run the program. */
const scriptOf = (service: string): string[] => {
  const script = `echo $$ > ${pidFile(service)}; LISTEN_PID=$$ exec "$@"`;
  const unit = onMachine(readFileSync(fileOf(service), 'utf8'));
  const [, args = ''] = /^ExecStart=\/usr\/local\/bin\/plantstore (.*)$/m.exec(unit) ?? [];
  return ['-c', script, 'sh', ...program, ...args.split(' ')];
};

const optionsOf = (service: string, env: NodeJS.ProcessEnv, sockets: readonly number[]) => {
  const log = openSync(`${root}/run/${service}.log`, 'a');
  const stdio: StdioOptions = ['ignore', log, log, ...sockets];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { env: { PATH, NODE_COMPILE_CACHE, ...variablesOf(service), ...env }, stdio };
};

/** Whether a client waits to be accepted: the receive queue of the listening socket (proc(5), /proc/net/tcp). */
const hasClient = (port: number): boolean => {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const waiting = new RegExp(`:${hex} 00000000:0000 0A \\w+:0*[1-9A-F]`);
  return waiting.test(readFileSync('/proc/net/tcp', 'utf8'));
};

/** Never returns. Blocks the event loop, so this process accepts no connection. */
const holdSocket = async (): Promise<void> => {
  const port = portOf();
  const socket = createServer().listen(port, '127.0.0.1');
  await once(socket, 'listening');
  writeFileSync(pidFile('plantstore.socket'), String(process.pid));
  // Node does not document the descriptor of a server.
  const { fd } = (socket as unknown as { readonly _handle: { readonly fd: number } })._handle;
  for (;;) {
    while (!hasClient(port)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    const service = 'plantstore.service';
    spawnSync('sh', scriptOf(service), optionsOf(service, { LISTEN_FDS: '1' }, [fd]));
  }
};

const start = async (unit: string): Promise<void> => {
  if (pidOf(unit) !== undefined) return;
  rmSync(pidFile(unit), { force: true });
  if (unit.endsWith('.socket')) {
    const args = ['--no-warnings', import.meta.filename, 'hold'];
    spawn(process.execPath, args, { detached: true, stdio: 'ignore' }).unref();
  } else if (pidOf('plantstore.socket') === undefined) {
    spawn('sh', scriptOf(unit), { ...optionsOf(unit, {}, []), detached: true }).unref();
  } else {
    connect(portOf()).end();
  }
  while (pidOf(unit) === undefined) await sleep(5);
};

const stop = async (unit: string): Promise<void> => {
  const pid = pidOf(unit);
  if (pid === undefined) return;
  process.kill(pid, unit.endsWith('.socket') ? 'SIGKILL' : 'SIGTERM');
  while (pidOf(unit) === pid) await sleep(5);
};

const [verb = '', ...args] = process.argv.slice(2);
const names = args.filter((arg) => arg !== '--now');
const isNow = args.length > names.length;
if (verb === 'hold') await holdSocket();
for (const name of names) {
  const unit = name.includes('.') ? name : `${name}.service`;
  if (unit.endsWith('.timer')) continue;
  if (!existsSync(fileOf(unit))) {
    process.stderr.write(`Unit ${unit} not loaded.\n`);
    process.exitCode = 5;
    continue;
  }
  if (verb === 'stop' || verb === 'restart' || (verb === 'disable' && isNow)) await stop(unit);
  if (verb === 'start' || verb === 'restart' || (verb === 'enable' && isNow)) await start(unit);
}
