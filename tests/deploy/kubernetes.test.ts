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
type Container = {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
};
type Pod = {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [Container];
};
type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: { readonly template?: { readonly spec: Pod } };
};
type Models = Readonly<Record<string, new (data: unknown) => { validate(): void }>>;

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const names = ['sqlite', 'postgres'] as const;

const folder = await newFolder(afterAll);
const modules = join(folder, 'node_modules');
beforeAll(async () => {
  // They bring 20 packages, so that they are no dependencies of the workspace.
  await runIn(folder, 'npm', [
    'install',
    '--no-audit',
    '--no-fund',
    'kubernetes-models@5',
    'yaml@2',
  ]);
}, 300_000);

const load = async (path: string): Promise<unknown> =>
  import(pathToFileURL(join(modules, path, 'index.js')).href);

const parse = async (text: string): Promise<readonly Manifest[]> => {
  const { parseAllDocuments } = (await load('yaml/dist')) as {
    parseAllDocuments: (text: string) => readonly { toJS(): Manifest }[];
  };
  return parseAllDocuments(text).map((one) => one.toJS());
};

/** Returns what Kubernetes refuses in the manifests of a file. */
const faultsIn = async (text: string) =>
  (await Promise.all((await parse(text)).map(faultsOf))).flat();

const read = async (name: string) => readFile(join(deploy, `kubernetes/${name}.yaml`), 'utf8');

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
  const models = (await load(`kubernetes-models/${apiVersion}`)) as Models;
  const Model = models[kind];
  if (Model === undefined) return [`there is no ${kind} in ${apiVersion}`];
  const unread = new Set<string>();
  try {
    new Model(recordReads(manifest, kind, unread)).validate();
  } catch (thrown) {
    return [String(thrown)];
  }
  return [...unread];
};

it.each(names)('Kubernetes accepts the manifest %s', async (name) => {
  expect(await faultsIn(await read(name))).toEqual([]);
});

it.each([
  ['timeoutSeconds: 2', 'timeoutSecond: 2'],
  ['timeoutSeconds: 2', 'timeoutSeconds: 2s'],
  ['path: /livez', 'paths: /livez'],
  ['targetPort: http', 'target: http'],
  ['/readyz, port: health', '/readyz, host: health'],
  ['kind: StatefulSet', 'kind: Statefulset'],
])('a manifest with "%s" replaced by "%s" is refused', async (right, wrong) => {
  expect(await faultsIn((await read('sqlite')).replace(right, wrong))).not.toEqual([]);
});

const mebibytes = 2 ** 20;

it.each(names)(
  'the pod of %s starts as in its manifest, is probed, and stops in time',
  async (name) => {
    const manifests = await parse(await read(name));
    const [pod] = manifests.flatMap(({ spec }) => spec.template?.spec ?? []);
    if (pod === undefined) throw new Error('there is no pod');
    const [container] = pod.containers;
    const image = await readFile(join(deploy, 'Dockerfile'), 'utf8');
    const files = await newFolder();
    const ports = new Map<number, number>();
    for (const { containerPort } of container.ports) ports.set(containerPort, await freePort());
    await writeFile(join(files, 'tokens'), `${token}\n`);

    // The variables of the image, and then those of the pod.
    const pairs = [...image.matchAll(/^(?:ENV)? +(PLANTSTORE_\w+)=(\S+)/gm)].map(
      ([, key, value]) => [key, value],
    );
    const given: Record<string, string> = Object.fromEntries([
      ...pairs,
      ...container.env.map(({ name: key, value = '' }) => [key, value]),
    ]) as Record<string, string>;
    expect(given['PLANTSTORE_HEALTH_PORT']).toBe(String(container.ports[1]?.containerPort));
    const limit = Number.parseInt(container.resources.limits.memory, 10) * mebibytes;
    const inFlight = Number(given['PLANTSTORE_MAX_IN_FLIGHT'] ?? optionRules.maxInFlight.default);
    expect(limit).toBe(384 * mebibytes + inFlight * 2 * Number(given['PLANTSTORE_MAX_BODY_BYTES']));

    // What Kubernetes and the image provide: ports, files and the database.
    const env: Record<string, string> = {
      ...given,
      PLANTSTORE_PORT: String(ports.get(optionRules.port.default)),
      PLANTSTORE_HEALTH_PORT: String(ports.get(Number(given['PLANTSTORE_HEALTH_PORT']))),
      PLANTSTORE_TOKENS_FILE: String(given['PLANTSTORE_TOKENS_FILE']).replace(
        '/run/secrets/plantstore',
        files,
      ),
      PLANTSTORE_DATABASE: String(given['PLANTSTORE_DATABASE']).replace('/data', files),
    };
    if (name === 'postgres') {
      const postgres = await startPostgres();
      onTestFinished(async () => postgres.dispose());
      env['PLANTSTORE_DATABASE'] = postgres.url('postgres');
    }
    const server = spawnProgram({ env });
    await untilLogged(server, acceptingMessage);
    const url = `http://[::1]:${env['PLANTSTORE_PORT']}/plants`;
    expect(server.stdout()).toContain(`"${url}"`);
    expect(await post(url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
    for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
      const { path, port } = container[kind].httpGet;
      const number = ports.get(
        container.ports.find((one) => one.name === port)?.containerPort ?? 0,
      );
      for (const host of ['127.0.0.1', '[::1]'])
        expect([kind, (await fetch(`http://${host}:${number}${path}`)).status]).toEqual([
          kind,
          200,
        ]);
    }
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    const deadlineSeconds = 20;
    const { seconds } = container.lifecycle.preStop.sleep;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds + deadlineSeconds);
  },
);
