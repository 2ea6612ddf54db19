import { crc32 } from 'node:zlib';
import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import {
  assertNewPlant,
  createMemoryRepository,
  type NewPlant,
  type Plant,
  type PlantRepository,
} from '../src/index.ts';
import { copyPlant, encodePlant } from '../src/plant-members.ts';
import type { OpenedRepository } from '../src/repository-contract.ts';

type Open = () => Promise<OpenedRepository>;

/** A fault, as the end of "a repository that", and the repository that has it. */
export type Wrong = readonly [string, Open];

/** What a repository compares. */
type Key = string | number;

/** Rejects plants that were not validated, so that each repository has a single fault. */
export const rejecting = (create: PlantRepository['create']): PlantRepository => ({
  create: (plant) =>
    new ResultAsync(
      (async () => {
        const copy = copyPlant(plant);
        assertNewPlant(copy);
        return create(copy);
      })(),
    ),
});

/** Returns `ok` if a create has stored a plant or found the same one, and `id-taken` otherwise. */
export const resultOf = (
  id: bigint,
  isSame: boolean | Promise<boolean>,
): ReturnType<PlantRepository['create']> =>
  ResultAsync.fromSafePromise(Promise.resolve(isSame)).andThen((same) =>
    same ? okAsync() : errAsync({ kind: 'id-taken' as const, id }),
  );

/** Stores changed plants. */
export const changing =
  (change: (plant: NewPlant) => NewPlant): Open =>
  async () => {
    const inner = createMemoryRepository();
    return { repository: rejecting((plant) => inner.create(change(plant))) };
  };

/** Stores changed names and tags. */
export const withText = (change: (text: string) => string): Open =>
  changing(({ id, name, tag }) => ({
    id,
    name: change(name),
    ...(tag !== undefined && { tag: change(tag) }),
  }));

/** Creates in a map of contents, and returns whether it has the plant now. */
const keep = (
  contents: Map<bigint, Key>,
  plant: NewPlant,
  contentOf: (plant: Plant) => Key = encodePlant,
): boolean => {
  const content = contentOf(plant);
  if (!contents.has(plant.id)) contents.set(plant.id, content);
  return contents.get(plant.id) === content;
};

/** Compares plants by a text or number that it makes of their content. */
const comparing =
  (contentOf: (plant: Plant) => Key): Open =>
  async () => {
    const contents = new Map<bigint, Key>();
    return {
      repository: rejecting((plant) => resultOf(plant.id, keep(contents, plant, contentOf))),
    };
  };

const textsOf = ({ name, tag }: Plant): string[] => (tag === undefined ? [name] : [name, tag]);

const hashOfJava = (text: string): number =>
  Array.from(text).reduce((hash, one) => (Math.imul(hash, 31) + (one.codePointAt(0) ?? 0)) | 0, 0);

/** Keeps the newest plants only. */
const forgetting =
  (maxPlants: number): Open =>
  async () => {
    const contents = new Map<bigint, Key>();
    return {
      repository: rejecting((plant) => {
        const isSame = keep(contents, plant);
        const [oldest] = contents.keys();
        if (contents.size > maxPlants && oldest !== undefined) contents.delete(oldest);
        return resultOf(plant.id, isSame);
      }),
    };
  };

/** Compares texts as `LIKE` does. */
const likes = (pattern: string, text: string): boolean =>
  pattern === text ||
  (pattern.length < 100 &&
    new RegExp(
      `^${pattern
        .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
        .replaceAll('%', '.*')
        .replaceAll('_', '.')}$`,
      'su',
    ).test(text));

const matchingPatterns: Open = async () => {
  const plants = new Map<bigint, Plant>();
  return {
    repository: rejecting(({ id, name, tag }) => {
      const kept = plants.get(id) ?? { name, tag };
      plants.set(id, kept);
      const isSameTag = tag === kept.tag || likes(tag ?? '', kept.tag ?? '');
      return resultOf(id, likes(name, kept.name) && isSameTag);
    }),
  };
};

/** Changes its plants when it is opened again. */
const reopening =
  (change: (kept: ReadonlyMap<bigint, Key>) => Iterable<readonly [bigint, Key]>): Open =>
  async () => {
    let contents = new Map<bigint, Key>();
    const repository = rejecting((plant) => resultOf(plant.id, keep(contents, plant)));
    return {
      repository,
      reopen: async () => {
        contents = new Map(change(contents));
        return repository;
      },
    };
  };

/** Loses the plants that it has stored after it was opened again. */
const writingOnce: Open = async () => {
  let contents = new Map<bigint, Key>();
  let file: ReadonlyMap<bigint, Key> | undefined;
  const repository = rejecting((plant) => resultOf(plant.id, keep(contents, plant)));
  return {
    repository,
    reopen: async () => {
      file ??= new Map(contents);
      contents = new Map(file);
      return repository;
    },
  };
};

/** Compares fewer members after it was opened again. */
const acceptingAnyTag: Open = async () => {
  const contents = new Map<bigint, Key>();
  let isFirst = true;
  const nameOf = (content: Key) => (JSON.parse(`${content}`) as Plant).name;
  const create = (plant: NewPlant) => {
    const isKept = keep(contents, plant);
    return (
      isKept || (!isFirst && nameOf(contents.get(plant.id) ?? '{}') === nameOf(encodePlant(plant)))
    );
  };
  const repository = rejecting((plant) => resultOf(plant.id, create(plant)));
  const reopen = async () => {
    isFirst = false;
    return repository;
  };
  return { repository, reopen };
};

/**
 * Two processes with one file of all plants. Each writes back its copy of the file, which it has read when it was opened, or
 * before the create.
 */
export const writingCopies = (readsBefore: boolean): [PlantRepository, PlantRepository] => {
  let file = new Map<bigint, Key>();
  const open = (): PlantRepository => {
    let copy = new Map(file);
    let last = Promise.resolve(true);
    const create = async (plant: NewPlant) => {
      // The ids themselves are never overwritten.
      if (file.has(plant.id)) return keep(file, plant);
      copy = new Map(readsBefore ? file : copy);
      keep(copy, plant);
      await Promise.resolve();
      if (file.has(plant.id)) return keep(file, plant);
      file = copy;
      return true;
    };
    return rejecting((plant) => {
      const copied = { ...plant };
      last = last.then(async () => create(copied));
      return resultOf(plant.id, last);
    });
  };
  return [open(), open()];
};

const named =
  <T>(fault: (value: T) => string, open: (value: T) => Open) =>
  (value: T): Wrong => [fault(value), open(value)];

const replacing = (pattern: RegExp | string, replacement: string): Open =>
  withText((text) => text.replaceAll(pattern, replacement));

const decoding = (pattern: RegExp): Open =>
  withText((text) =>
    text.replaceAll(pattern, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );

/** Repositories that confuse or lose plants. */
export const confusingRepositories: readonly Wrong[] = [
  ...['undefined', 'null', '-', 'NULL', String.raw`\N`, 'None', 'nil', '(null)', '0', 'false'].map(
    named(
      (mark) => `stores no tag as ${mark}`,
      (mark) => comparing(({ name, tag = mark }) => encodePlant({ name, tag })),
    ),
  ),
  ...[
    ...Array.from(':,\n \t|;/-_.=#\u001f\u001e\ufffd\uffff"\''),
    '',
    '::',
    ', ',
    ' - ',
    '||',
    '\r\n',
  ].map(
    named(
      (separator) => `joins name and tag with ${JSON.stringify(separator)}`,
      (separator) => comparing((plant) => textsOf(plant).join(separator)),
    ),
  ),
  [
    'escapes a separator and no backslash',
    comparing((plant) =>
      textsOf(plant)
        .map((text) => text.replaceAll(',', '\\,'))
        .join(),
    ),
  ],
  [
    'quotes name and tag without doubling quotes',
    comparing((plant) =>
      textsOf(plant)
        .map((text) => `"${text}"`)
        .join(),
    ),
  ],
  [
    'compares names and tags in any order',
    comparing((plant) => encodePlant({ name: textsOf(plant).toSorted().join('\0') })),
  ],
  ['compares tags only, if there is one', comparing(({ name, tag }) => tag ?? `name ${name}`)],
  ['compares a hash as Java does', comparing((plant) => hashOfJava(encodePlant(plant)))],
  ['compares a CRC-32', comparing((plant) => crc32(encodePlant(plant)))],
  [
    'compares lengths and starts',
    comparing((plant) =>
      textsOf(plant)
        .map((text) => `${text.length} ${text.slice(0, 255)}`)
        .join('\0'),
    ),
  ],
  ['matches patterns', matchingPatterns],
  ['stores Latin-1', withText((text) => Buffer.from(text, 'latin1').toString('latin1'))],
  ['stores ASCII', withText((text) => Buffer.from(text, 'ascii').toString('ascii'))],
  ['stores Latin-1 with question marks', replacing(/[^\0-\xff]/gu, '?')],
  ['stores UTF-8 of three bytes with question marks', replacing(/[\u{10000}-\u{10ffff}]/gu, '?')],
  ['stores UTF-8 of three bytes with U+FFFD', replacing(/[\u{10000}-\u{10ffff}]/gu, '\ufffd')],
  ['removes accents', withText((text) => text.normalize('NFD').replaceAll(/\p{M}/gu, ''))],
  ['stores white space as spaces', replacing(/\s/gu, ' ')],
  ['joins spaces', replacing(/ +/gu, ' ')],
  ['changes a lone carriage return', replacing(/\r(?!\n)/gu, '\n')],
  ['removes joiners', replacing('\u200d', '')],
  ['removes control characters', replacing(/[\u0001-\u0008]/gu, '')],
  ['unescapes line feeds', replacing(String.raw`\n`, '\n')],
  ['unescapes JSON', decoding(/\\u(....)/gu)],
  ['decodes URLs', decoding(/%([\da-f]{2})/giu)],
  ['decodes HTML', replacing('&amp;', '&')],
  ['stores a plus sign as a space', replacing('+', ' ')],
  ['stores typographic quotes as plain ones', replacing('\u2019', "'")],
  [
    'stores numbers as numbers',
    withText((text) => (/^[\d.]+$/u.test(text) ? `${Number(text)}` : text)),
  ],
  ['stores 63 bits of an id', changing((plant) => ({ ...plant, id: BigInt.asIntN(63, plant.id) }))],
  [
    'stores 18 digits of an id',
    changing((plant) => ({ ...plant, id: BigInt(`${plant.id}`.slice(0, 18)) })),
  ],
  [
    'stores no sign of an id',
    changing((plant) => ({ ...plant, id: BigInt(`${plant.id}`.replace('-', '')) % 2n ** 63n })),
  ],
  ...[100, 1_000, 2_000].map(named((count) => `forgets after ${count} plants`, forgetting)),
  ['loses the first plant on restart', reopening((kept) => [...kept].slice(1))],
  ['loses the last plant on restart', reopening((kept) => [...kept].slice(0, -1))],
  [
    'stores no tag as an empty tag on restart',
    reopening((kept) =>
      [...kept].map(([id, content]) => [
        id,
        encodePlant({ tag: '', ...(JSON.parse(`${content}`) as Plant) }),
      ]),
    ),
  ],
  ['accepts any tag after a restart', acceptingAnyTag],
  ['loses the plants that were stored after a restart', writingOnce],
];
