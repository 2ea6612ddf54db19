import { crc32 } from 'node:zlib';
import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import { complete, members, withMember } from '../src/contract-plants.ts';
import {
  assertNewPlant,
  createMemoryRepository,
  type NewPlant,
  type Plant,
  type PlantRepository,
} from '../src/index.ts';
import { copyPlant, encodePlant } from '../src/plant-members.ts';
import type { OpenedRepository } from '../src/repository-contract.ts';

type Create = PlantRepository['create'];
type Open = () => Promise<OpenedRepository>;
/** The contents of a repository by id: what it compares. */
type Contents = Map<bigint, string | number>;
type Decide = (contents: Contents, plant: NewPlant) => boolean | Promise<boolean>;

/** Rejects plants that were not validated, so that each repository has a single fault. */
const rejecting = (create: Create): PlantRepository => ({
  create: (plant) =>
    new ResultAsync(
      (async () => {
        const copy = copyPlant(plant);
        assertNewPlant(copy);
        return create(copy);
      })(),
    ),
});

const resultOf = (id: bigint, isOk: boolean | Promise<boolean>): ReturnType<Create> =>
  ResultAsync.fromSafePromise(Promise.resolve(isOk)).andThen((decided) =>
    decided ? okAsync() : errAsync({ kind: 'id-taken' as const, id }),
  );

/** A repository whose result is `ok` or `id-taken`. */
const deciding = (contents: Contents, isOk: Decide): PlantRepository =>
  rejecting((plant) => resultOf(plant.id, isOk(contents, plant)));

const opening =
  (isOk: Decide): Open =>
  async () => ({ repository: deciding(new Map(), isOk) });

/** A repository that receives plants as they are, also those that were not validated. */
const receiving =
  (isOk: Decide): Open =>
  async () => {
    const contents: Contents = new Map();
    return {
      repository: { create: (plant) => resultOf(plant.id, isOk(contents, plant)) },
    };
  };

/** Stores a content where the id has none, and returns whether the id has it now. */
const keep = (contents: Contents, id: bigint, content: string | number): boolean => {
  if (!contents.has(id)) contents.set(id, content);
  return contents.get(id) === content;
};
const keepPlant = (contents: Contents, plant: NewPlant) =>
  keep(contents, plant.id, encodePlant(plant));

const comparing = (contentOf: (plant: Plant) => string | number): Open =>
  opening((contents, plant) => keep(contents, plant.id, contentOf(plant)));
const changing = (change: (plant: NewPlant) => NewPlant): Open =>
  opening((contents, plant) => keepPlant(contents, change(plant)));
const withText = (change: (text: string) => string): Open =>
  changing(({ id, name, tag }) => ({
    id,
    name: change(name),
    ...(tag !== undefined && { tag: change(tag) }),
  }));
const replacing = (pattern: RegExp | string, replacement: string): Open =>
  withText((text) => text.replaceAll(pattern, replacement));
const decoding = (pattern: RegExp): Open =>
  withText((text) =>
    text.replaceAll(pattern, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );

const textsOf = ({ name, tag }: Plant): string[] => (tag === undefined ? [name] : [name, tag]);
const joining = (mapText: (text: string) => string, separator: string): Open =>
  comparing((plant) => textsOf(plant).map(mapText).join(separator));

const hashOfJava = (text: string): number =>
  Array.from(text).reduce((hash, one) => (Math.imul(hash, 31) + (one.codePointAt(0) ?? 0)) | 0, 0);

const matchesStart: Decide = (contents, plant) => {
  if (!contents.has(plant.id)) contents.set(plant.id, encodePlant(plant));
  const kept = JSON.parse(`${contents.get(plant.id)}`) as Plant;
  return kept.name.startsWith(plant.name) && kept.tag === plant.tag;
};

/** Changes its plants when it is opened again. */
const reopening =
  (change: (kept: Contents, count: number) => Iterable<readonly [bigint, string | number]>): Open =>
  async () => {
    let contents: Contents = new Map();
    let count = 0;
    const repository = rejecting((plant) => resultOf(plant.id, keepPlant(contents, plant)));
    const reopen = async () => {
      contents = new Map(change(contents, ++count));
      return repository;
    };
    return { repository, reopen };
  };

/** Keeps the plants of the first time only. */
const writingOnce: Open = async () => {
  let file: Contents | undefined;
  return reopening((kept) => (file ??= new Map(kept)))();
};

const overwriting: Decide = (contents, plant) => {
  const kept = contents.get(plant.id) ?? encodePlant(plant);
  contents.set(plant.id, encodePlant(plant));
  return kept === encodePlant(plant);
};

const readingTooEarly: Decide = async (contents, plant) => {
  const kept = contents.get(plant.id) ?? encodePlant(plant);
  await Promise.resolve();
  contents.set(plant.id, kept);
  return kept === encodePlant(plant);
};

const withoutUniqueKey: Decide = async (contents, plant) => {
  const isFree = !contents.has(plant.id);
  await Promise.resolve();
  const created = `${encodePlant(plant)}\n`;
  if (isFree) contents.set(plant.id, created + (contents.get(plant.id) ?? ''));
  return `\n${contents.get(plant.id)}`.includes(`\n${created}`);
};

/** Decides by the first of plants that come at once, and stores the last. */
const storingTheLast: Open = async () => {
  let batch: Contents = new Map();
  return opening(async (contents, plant) => {
    if (contents.has(plant.id) && !batch.has(plant.id)) return keepPlant(contents, plant);
    contents.set(plant.id, encodePlant(plant));
    const isFirst = keepPlant(batch, plant);
    await new Promise(setImmediate);
    batch = new Map();
    return isFirst;
  })();
};

/** Refuses plants with a number. */
export const refusing =
  (isRefused: (plant: NewPlant, count: number) => boolean, error = 4001): Open =>
  async () => {
    const contents: Contents = new Map();
    let count = 0;
    const repository = rejecting((plant) =>
      isRefused(plant, ++count)
        ? errAsync({ kind: 'plant-refused', error, message: 'no weeds' })
        : resultOf(plant.id, keepPlant(contents, plant)),
    );
    return { repository, refused: { id: 7_000n, name: 'Bindweed', tag: 'weed' } };
  };
const isWeed = ({ tag }: NewPlant) => tag === 'weed';

const named = <T>(fault: string, values: readonly T[], open: (value: T) => Open) =>
  Object.fromEntries(
    values.map((value) => [fault.replace('…', () => JSON.stringify(value)), open(value)]),
  );

/** Faults, each as the end of "a repository that", and the repository that has it. */
export const wrongRepositories: Readonly<Record<string, Open>> = {
  ...named('stores no tag as …', ['', '-', 'null', String.raw`\N`], (mark) =>
    comparing(({ name, tag = mark }) => encodePlant({ name, tag })),
  ),
  ...named(
    'joins name and tag with …',
    ['', ':', ',', ' ', '\t', '\u001f', '::', ' - ', '\r\n'],
    (separator) => joining((text) => text, separator),
  ),
  'escapes a separator and no backslash': joining((text) => text.replaceAll(',', '\\,'), ','),
  'quotes name and tag without doubling quotes': joining((text) => `"${text}"`, ','),
  'compares names and tags in any order': comparing((plant) =>
    JSON.stringify(textsOf(plant).toSorted()),
  ),
  'compares tags only, if there is one': comparing(({ name, tag }) => tag ?? `name ${name}`),
  ...named('stores one value of the member …', members, (member) =>
    changing((plant) => withMember(plant, member, complete[member])),
  ),
  'compares a hash as Java does': comparing((plant) => hashOfJava(encodePlant(plant))),
  'compares a CRC-32': comparing((plant) => crc32(encodePlant(plant))),
  'compares lengths and starts': joining((text) => `${text.length} ${text.slice(0, 255)}`, '\0'),
  'compares the start of a name': opening(matchesStart),
  ...named('stores text in …', ['latin1', 'ascii'] as const, (encoding) =>
    withText((text) => Buffer.from(text, encoding).toString(encoding)),
  ),
  'stores Latin-1 with question marks': replacing(/[^\0-\xff]/gu, '?'),
  'stores UTF-8 of three bytes with U+FFFD': replacing(/[\u{10000}-\u{10ffff}]/gu, '\ufffd'),
  'trims text': withText((text) => text.trim()),
  'normalizes text': withText((text) => text.normalize()),
  'ignores case': withText((text) => text.toLowerCase()),
  'removes accents': withText((text) => text.normalize('NFD').replaceAll(/\p{M}/gu, '')),
  'removes a BOM': withText((text) => text.replace(/^\ufeff/, '')),
  'truncates long text': withText((text) => text.slice(0, 65_535)),
  'changes line endings': replacing('\r\n', '\n'),
  'changes a lone carriage return': replacing(/\r(?!\n)/gu, '\n'),
  'stores white space as spaces': replacing(/\s/gu, ' '),
  'joins spaces': replacing(/ +/gu, ' '),
  'removes joiners': replacing('\u200d', ''),
  'unescapes line feeds': replacing(String.raw`\n`, '\n'),
  'unescapes JSON': decoding(/\\u(....)/gu),
  'decodes URLs': decoding(/%([\da-f]{2})/giu),
  'decodes HTML': replacing('&amp;', '&'),
  'stores typographic quotes as plain ones': replacing('\u2019', "'"),
  'stores numbers as numbers': withText((text) =>
    /^[\d.]+$/u.test(text) ? `${Number(text)}` : text,
  ),
  ...named('stores … bits of an id', [32, 63], (bits) =>
    changing((plant) => ({ ...plant, id: BigInt.asIntN(bits, plant.id) })),
  ),
  'stores ids as doubles': changing((plant) => ({ ...plant, id: BigInt(Number(plant.id)) })),
  'stores no sign of an id': changing((plant) => ({
    ...plant,
    id: BigInt(`${plant.id}`.replace('-', '')),
  })),
  'returns ok for every plant': opening(() => true),
  'returns id-taken for a repeated create': opening(
    (contents, { id }) => contents.size !== contents.set(id, '').size,
  ),
  'returns id-taken with another id': async () => {
    const contents: Contents = new Map();
    return { repository: rejecting((plant) => resultOf(0n, keepPlant(contents, plant))) };
  },
  'overwrites plants': opening(overwriting),
  'does not read and write atomically': opening(readingTooEarly),
  'stores two plants with one id if they come at once': opening(withoutUniqueKey),
  'stores the last of plants that come at once': storingTheLast,
  'forgets after 100 plants': opening((contents, plant) => {
    const isKept = keepPlant(contents, plant);
    const [oldest] = contents.keys();
    if (contents.size > 100 && oldest !== undefined) contents.delete(oldest);
    return isKept;
  }),
  'creates plants that were not validated': receiving((contents, plant) =>
    keepPlant(contents, copyPlant(plant)),
  ),
  'reads the members but the id after the call': receiving(async (contents, plant) => {
    assertNewPlant(plant);
    const { id } = plant;
    await Promise.resolve();
    return keep(contents, id, encodePlant(plant));
  }),
  'stores what a plant becomes after the call': receiving(async (contents, plant) => {
    assertNewPlant(plant);
    await Promise.resolve();
    return keepPlant(contents, plant);
  }),
  'distinguishes a member that is undefined from an absent one': receiving(
    async (contents, plant) => {
      assertNewPlant(plant);
      return keep(contents, plant.id, JSON.stringify([encodePlant(plant), Object.keys(plant)]));
    },
  ),
  'throws instead of rejecting': async () => {
    const { create } = createMemoryRepository();
    return {
      repository: {
        create: (plant) => {
          assertNewPlant(plant);
          return create(plant);
        },
      },
    };
  },
  'does not apply its rule': refusing(() => false),
  'refuses every plant with an id': refusing(({ id }) => id === 7_000n),
  'refuses a plant the first time only': refusing((plant, count) => isWeed(plant) && count === 1),
  ...named('refuses with the number …', [1401, 4000.5], (error) => refusing(isWeed, error)),
  'loses plants on restart': reopening(() => []),
  'loses the first plant on restart': reopening((kept) => [...kept].slice(1)),
  'loses the last plant on restart': reopening((kept) => [...kept].slice(0, -1)),
  'stores no tag as an empty tag on restart': reopening((kept) =>
    Array.from(kept, ([id, content]) => {
      const plant = JSON.parse(`${content}`) as Plant;
      return [id, encodePlant({ ...plant, tag: plant.tag ?? '' })] as const;
    }),
  ),
  'loses the plants that were stored after a restart': writingOnce,
};

/** Two processes with the same plants, one of which reads before the other writes. */
const readThenWrite = () => {
  const contents: Contents = new Map();
  const open = (): PlantRepository => {
    // One create at a time, so that only the other process comes in between.
    let last: Promise<unknown> = Promise.resolve();
    return deciding(contents, (_, plant) => {
      const created = encodePlant(plant);
      const creating = last.then(async () => {
        const kept = contents.get(plant.id);
        await Promise.resolve();
        contents.set(plant.id, kept ?? created);
        return (kept ?? created) === created;
      });
      last = creating;
      return creating;
    });
  };
  return [open(), open()] as const;
};

/** Two processes that write back a copy of all plants, which was read at the start or before each create. */
const writingCopies = (readsBefore: boolean) => {
  let file: Contents = new Map();
  const open = (): PlantRepository => {
    let copy: Contents = new Map(file);
    let last: Promise<unknown> = Promise.resolve();
    return deciding(copy, (_, plant) => {
      const creating = last.then(async () => {
        // The ids themselves are never overwritten.
        if (file.has(plant.id)) return keepPlant(file, plant);
        copy = new Map(readsBefore ? file : copy);
        keepPlant(copy, plant);
        await Promise.resolve();
        if (file.has(plant.id)) return keepPlant(file, plant);
        file = copy;
        return true;
      });
      last = creating;
      return creating;
    });
  };
  return [open(), open()] as const;
};

/** Faults that a second repository on the same plants shows. */
export const wrongPairs: Readonly<
  Record<string, () => readonly [PlantRepository, PlantRepository]>
> = {
  'reads, then writes': readThenWrite,
  'writes back its old copy of all plants': () => writingCopies(false),
  'reads and writes all plants at once': () => writingCopies(true),
  'does not see the plants of the other': () => [
    createMemoryRepository(),
    createMemoryRepository(),
  ],
  'is unavailable for a plant that the other has just created': () => {
    const first = createMemoryRepository();
    const created = new Set<bigint>();
    const create: Create = (plant) =>
      created.size === created.add(plant.id).size
        ? first.create(plant)
        : errAsync({ kind: 'store-unavailable', reason: 'a key exists already' });
    return [first, { create }];
  },
};
