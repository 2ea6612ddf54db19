import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freePort } from '@plantstore/test-support/free-port';
import { startPostgres } from '@plantstore/test-support/postgres-server';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { optionRules } from '@plantstore/server';
import { acceptingMessage } from '../../packages/plantstore/src/serve/log-messages.ts';
import { newFolder, post, spawnProgram, token, untilLogged } from '../black-box/program.ts';
import { runIn } from '../packages/run-in.ts';

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } };
type Pod = {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
    readonly resources: { readonly limits: { readonly memory: string } };
    readonly startupProbe: Probe;
    readonly livenessProbe: Probe;
    readonly readinessProbe: Probe;
  }[];
};
type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: { readonly template?: { readonly spec: Pod } };
};
type Models = Readonly<Record<string, new (data: unknown) => { validate(): void }>>;

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const names = ['sqlite', 'postgres'] as const;
const read = async (name: string) => readFile(join(deploy, `kubernetes/${name}.yaml`), 'utf8');

// They bring 20 packages, so that they are no dependencies of the workspace.
const folder = await newFolder(afterAll);
beforeAll(async () => {
  const packages = ['kubernetes-models@5', 'yaml@2'];
  await runIn(folder, 'npm', ['install', '--no-audit', '--no-fund', ...packages]);
}, 300_000);

const load = async (path: string): Promise<unknown> =>
  import(pathToFileURL(join(folder, 'node_modules', path, 'index.js')).href);

const parse = async (text: string): Promise<readonly Manifest[]> => {
  const { parseAllDocuments } = (await load('yaml/dist')) as {
    parseAllDocuments: (text: string) => readonly { toJS(): Manifest }[];
  };
  return parseAllDocuments(text).map((one) => one.toJS());
};

/** Returns what Kubernetes refuses in the manifests of a file. */
const faultsIn = async (text: string) =>
  (await Promise.all((await parse(text)).map(faultsOf))).flat();

/** Returns a copy that removes the path of each member from `unread` when a validator reads it. */
const recordReads = (value: unknown, path: string, unread: Set<string>): unknown => {
  if (Array.isArray(value)) return value.map((one) => recordReads(one, `${path}[]`, unread));
  if (typeof value !== 'object' || value === null) return value;
  // The models would copy a plain object, and so read all of it.
  const copy = Object.create({}) as object;
  for (const [key, member] of Object.entries(value)) {
    const name = `${path}.${key}`;
    const recorded = recordReads(member, name, unread);
    unread.add(name);
    const get = () => {
      unread.delete(name);
      return recorded;
    };
    Object.defineProperty(copy, key, { get, enumerable: true });
  }
  return copy;
};

/** Returns what Kubernetes refuses in a manifest; the models ignore unknown members. */
const faultsOf = async (manifest: Manifest): Promise<readonly string[]> => {
  const { apiVersion, kind } = manifest;
  const Model = ((await load(`kubernetes-models/${apiVersion}`)) as Models)[kind];
  if (Model === undefined) return [`there is no ${kind} in ${apiVersion}`];
  const unread = new Set<string>();
  try {
    new Model(recordReads(manifest, kind, unread)).validate();
  } catch (thrown) {
    return [String(thrown)];
  }
  return [...unread];
};

it.each([
  ['timeoutSeconds: 2', 'timeoutSecond: 2'],
  ['timeoutSeconds: 2', 'timeoutSeconds: 2s'],
  ['kind: StatefulSet', 'kind: Statefulset'],
])('a manifest with "%s" replaced by "%s" is refused', async (right, wrong) => {
  expect(await faultsIn((await read('sqlite')).replace(right, wrong))).not.toEqual([]);
});

it.each(names)(
  'Kubernetes accepts the manifest %s, whose pod starts, is probed, and stops in time',
  async (name) => {
    expect(await faultsIn(await read(name))).toEqual([]);
    const [pod] = (await parse(await read(name))).flatMap(({ spec }) => spec.template?.spec ?? []);
    const [container] = pod?.containers ?? [];
    if (pod === undefined || container === undefined) throw new Error('there is no pod');
    const files = await newFolder();
    await writeFile(join(files, 'tokens'), `${token}\n`);
    const ports = new Map<string, number>();
    for (const port of container.ports) ports.set(port.name, await freePort());

    // The variables of the image, and then those of the pod.
    const image = await readFile(join(deploy, 'Dockerfile'), 'utf8');
    const given: Record<string, string> = {};
    for (const [, key = '', value = ''] of image.matchAll(/^(?:ENV)? +(PLANTSTORE_\w+)=(\S+)/gm))
      given[key] = value;
    for (const { name: key, value = '' } of container.env) given[key] = value;
    expect(container.ports.map(({ containerPort }) => String(containerPort))).toEqual([
      String(optionRules.port.default),
      given['PLANTSTORE_HEALTH_PORT'],
    ]);
    const inFlight = Number(given['PLANTSTORE_MAX_IN_FLIGHT'] ?? optionRules.maxInFlight.default);
    const bodies = (2 * inFlight * Number(given['PLANTSTORE_MAX_BODY_BYTES'])) / 2 ** 20;
    expect(container.resources.limits.memory).toBe(`${384 + bodies}Mi`);

    // What Kubernetes and the image provide: ports, files and the database.
    const path = (variable: string, from: string) => given[variable]?.replace(from, files) ?? '';
    const env = {
      ...given,
      PLANTSTORE_PORT: String(ports.get('http')),
      PLANTSTORE_HEALTH_PORT: String(ports.get('health')),
      PLANTSTORE_TOKENS_FILE: path('PLANTSTORE_TOKENS_FILE', '/run/secrets/plantstore'),
      PLANTSTORE_DATABASE: path('PLANTSTORE_DATABASE', '/data'),
    };
    if (name === 'postgres') {
      const postgres = await startPostgres();
      onTestFinished(async () => postgres.dispose());
      env.PLANTSTORE_DATABASE = postgres.url('postgres');
    }
    const server = spawnProgram({ env });
    await untilLogged(server, acceptingMessage);
    const url = `http://[::1]:${env.PLANTSTORE_PORT}/plants`;
    expect(await post(url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
    for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
      const { path: probed, port } = container[kind].httpGet;
      for (const host of ['127.0.0.1', '[::1]']) {
        const { status } = await fetch(`http://${host}:${ports.get(port)}${probed}`);
        expect([kind, status]).toEqual([kind, 200]);
      }
    }
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    const deadlineSeconds = 20;
    const { seconds } = container.lifecycle.preStop.sleep;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds + deadlineSeconds);
  },
);
