#!/usr/bin/env node
import { isBuiltin } from 'node:module';
import { ignoredSignals } from './serve/ignored-signals.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  fail(`needs Node 22.18 or newer; this is ${process.version}`);
}
if (!isBuiltin('node:sqlite')) {
  fail('needs node:sqlite; start Node without --no-experimental-sqlite, also in NODE_OPTIONS');
}

// Node names its process MainThread, which systemd and top show.
process.title = 'plantstore';

// Node 22 warns when it loads node:sqlite.
if (major === 22) {
  // oxlint-disable-next-line typescript/unbound-method -- it is only restored
  const { emitWarning } = process;
  process.emitWarning = () => {};
  process.getBuiltinModule('node:sqlite');
  process.emitWarning = emitWarning;
}

// Before main() listens for them and after it stops, these signals must not end the process either.
for (const signal of ['SIGHUP', ...ignoredSignals]) process.on(signal, () => {});

// Imported dynamically, because its imports do not load on an older Node.
const { main } = await import('./main.ts');
const { endAtOnce } = await import('./serve/end-at-once.ts');
const { createReadStream, fstatSync } = await import('node:fs');
const { argv, env, stdout, stderr } = process;
// As process.stdin, a folder is an empty stream; reading it fails.
const stdin = () => (fstatSync(0).isDirectory() ? createReadStream('', { fd: 0 }) : process.stdin);

const status = await main({
  argv: argv.slice(2),
  env,
  stdin,
  stdout,
  stderr,
  signals: process,
  endAtOnce,
}).catch((thrown: unknown) => fail(describeFault(thrown)));
process.exit(status);

function fail(message: string): never {
  process.stderr.write(`plantstore: ${message}\n`);
  process.exit(1);
}

/** Describes an exception that the start of Node caused. Rethrows any other one, which is a bug. */
function describeFault(thrown: unknown): string {
  const { code, syscall, message, resource } = thrown as NodeJS.ErrnoException & {
    readonly resource?: string;
  };
  if (syscall === 'uv_cwd') return 'the working directory was removed; change to another folder';
  if (code === 'ERR_ACCESS_DENIED')
    return ['Node runs with --permission', message, resource].filter(Boolean).join(': ');
  throw thrown;
}
