// The words around the tables. Numbers stand in them only where they come from the results.
import type { GrowthStep, Results, Servers } from '../results.ts';
import { inWords } from '../spread.ts';
import {
  asMarkdown,
  clientTables,
  coreTable,
  growthTable,
  machineInWords,
  many,
  serversTable,
  startTable,
  type Table,
} from '../tables.ts';

const command = 'npx -y pnpm@12 bench';

const measuredOn = ({ date, machine }: Results): string =>
  `Measured on ${date.slice(0, 10)}: ${machineInWords(machine)}.`;

const inMinutes = ({ seconds }: Results): string => `${Math.ceil(seconds / 60)} minutes`;

const leftOutInWords = ({ leftOut }: Servers): readonly string[] =>
  leftOut.length === 0
    ? []
    : [
        'Left out, because it failed:',
        // What a process wrote before it ended may be long.
        leftOut.map(({ why }) => `- ${(why.split('\n')[0] ?? '').slice(0, 200)}`).join('\n'),
      ];

/** Keeps the first columns of a table. */
const firstColumns = (table: Table, count: number): Table =>
  table.map((row) => row.slice(0, count));

const lastOf = (steps: readonly GrowthStep[]): GrowthStep => {
  const last = steps.at(-1);
  if (last === undefined) throw new Error('no store was measured while it grew');
  return last;
};

/** What was to be reached, with the command that measures it again. */
const goalsTable = ({ start, client, core, growth }: Results): Table => {
  const call = client.settings[0]?.rows.find(({ name }) => name === 'ours');
  const parse = core.plants.find(({ name }) => name === 'parseNewPlant');
  if (call === undefined || parse === undefined) throw new Error('the results are not whole');
  const { plants, perCreateRatio, residentMiB } = lastOf(growth.steps);
  const { firstAnswerMs, residentMiB: atRest } = start.host;
  return [
    ['what', 'measured', 'as a ratio', 'again'],
    [
      'from the command to the first answer of the host',
      `${firstAnswerMs.median.toFixed(0)} ms`,
      `×${inWords(start.timeRatio)} of a bare server's`,
      '`--parts start`',
    ],
    [
      'memory of the host at rest',
      `${atRest.median.toFixed(0)} MiB`,
      `×${inWords(start.memoryRatio)} of a bare server's`,
      '`--parts start`',
    ],
    [
      'a call of the client',
      `${call.wallUs.median.toFixed(0)} µs, ${many(client.bundles['ours'] ?? Number.NaN)} bytes in a bundle`,
      `×${inWords(call.wallRatio)} of bare fetch's`,
      '`--parts client`',
    ],
    [
      'validation by `parseNewPlant`',
      `${many(parse.perSecond.median / 1_000)} thousand plants a second`,
      `×${inWords(parse.ratio)} of ${core.baseline}'s rate`,
      '`--parts core`',
    ],
    [
      `a create in a store of ${many(plants)} plants`,
      `${residentMiB.toFixed(0)} MiB resident`,
      `×${inWords(perCreateRatio)} of one in ${many(growth.small)}`,
      '`--parts growth`',
    ],
  ];
};

/** The README's section, without its heading. */
export const readmeSection = (results: Results): string => {
  const { connections } = results.servers.options;
  return [
    `Each × is a ratio to a baseline that was measured in turn with it, in the same run: the median of all rounds, and
the least and the most of them in brackets. Ratios carry over roughly to other machines, milliseconds do not. The
servers' baseline is a bare \`node:http\` server that parses the body and answers a constant: no token, no check, no store.
${connections} connections send plants, each waiting for its response. CPU per request leads, because it depends on the code;
throughput depends on the disk and the load too. "Ours" is Plantstore. The peers do the same job: those in memory
compare HTTP alone, those on a database commit as durably as Plantstore.`,
    measuredOn(results),
    asMarkdown(firstColumns(serversTable(results.servers), 5)),
    ...leftOutInWords(results.servers),
    asMarkdown(goalsTable(results)),
    `All of it again, in ${inMinutes(results)}: \`${command}\`; a part of it:
\`${command} --parts start\`. What is compared, what is not, all tables and the plots
([CPU](docs/benchmarks/cpu.svg), [latency](docs/benchmarks/latency.svg),
[growth](docs/benchmarks/growth.svg)): [\`docs/benchmarks.md\`](docs/benchmarks.md). What follows for more
plants than one process takes: [\`docs/scaling.md\`](docs/scaling.md).`,
  ].join('\n\n');
};

const serversPart = (servers: Servers): readonly string[] => {
  const { connections, seconds, rounds } = servers.options;
  const packages = Object.entries(servers.peerVersions).map(
    ([name, version]) => `${name} ${version}`,
  );
  return [
    '## Servers',
    `\`${command} --parts servers\`; \`--only postgres\` measures those with that in their names.
${connections} connections send unique plants, each waiting for its answer before the next, for ${seconds} s in each of ${rounds} rounds,
to a process and a store that are new each time and warm when counting begins.`,
    '![CPU per request by store and by peer](benchmarks/cpu.svg)',
    '![Latency by store and by peer](benchmarks/latency.svg)',
    asMarkdown(serversTable(servers)),
    ...leftOutInWords(servers),
    `- **CPU per request** is the CPU time of the server's process with all its threads. The process of a database server
  is not included. Throughput on a disk depends more on the disk than on the code.
- **The baseline** reads the body, parses it and answers a constant. It checks no token and no plant, and keeps
  nothing. What a server takes beyond ×1 is the cost of the job.
- **The limits** of this machine are those of the load generator, against a socket that answers everything, and of the
  disk, to which as many plants as there are connections are appended before each sync.
- **Ours** is Plantstore as it is built. "Keeping nothing" is the cost of HTTP, token and validation alone. "Whole
  host" is the program that users start, with its timeouts and limits and one log line per request.
- **The peers** follow the documentation of their frameworks and do the same job: bearer token, validation, unique ids, the same
  response. Each is checked for that before it is measured.
- **In memory** nothing is committed: these rows compare the HTTP servers, without the advantage of a group commit.
- **On SQLite** every peer commits with \`synchronous = FULL\`, and on PostgreSQL with its defaults, so their responses are as
  durable as Plantstore's. All but one commit each request by itself. Plantstore commits the requests that wait at the same
  time together; "group commit" is a peer that does so too, written by hand, on its main thread.
- **The last column** is the most that the load generator took: near one core, the generator was the bottleneck.`,
    `**Not compared**: ids beyond 2^53, which most peers round or reject and Plantstore keeps; rejected requests;
several processes; TLS; a network between client and server. PostgreSQL runs beside the server on the same machine.`,
    `The peers are made of ${packages.join(', ')}.`,
  ];
};

/** The page with everything. */
export const benchmarksPage = (results: Results): string => {
  const { servers, start, client, core, growth, machine } = results;
  const pinning = machine.isPinned
    ? 'The server has a core and the load another; servers with SQLite may use both, for the disk has work beside them.'
    : 'Servers and load share the cores, for they could not be given one each.';
  return [
    '# Benchmarks',
    `<!-- Written by \`pnpm bench --report\` from bench/results.json. -->`,
    `\`${command}\` measures all of this and prints it; \`${command} --report\` makes this page, its plots
and the README's section of what was measured.`,
    `${measuredOn(results)} It took ${inMinutes(results)}. ${pinning}`,
    `**How to read it.** Every ratio is to a baseline that was measured in turn with it in the same run. It is the
median of all rounds, with the least and the most of them in brackets: where those are far apart, the machine had
other work, or the disk its moods. Ratios carry over to other machines, though not exactly; milliseconds and plants a
second do not.`,
    ...serversPart(servers),
    '## Start and memory',
    `\`${command} --parts start\`. From the command until the first plant is answered, and the resident memory a second
later; ${start.rounds} rounds, each with a new file. The bare server can only answer a constant.`,
    asMarkdown(startTable(start)),
    '## The client',
    `\`${command} --parts client\`. The same call by every client, with its defaults, against one server on this machine,
in blocks that take turns; ${client.rounds} rounds. Plantstore's has two clocks, retries, a check of the answer and an error
for every case, which bare fetch leaves to its caller; the second row is bare fetch with the least of that. A fetch
that answers at once stands in for the network in one table, which leaves the clients' own cost.`,
    ...clientTables(client).map(asMarkdown),
    '## Validation',
    `\`${command} --parts core\`. A plant that is parsed already, by the same rules as far as each library can say them;
${core.rounds} rounds. "Parse and one promise" is \`createPlant\`, on a repository that keeps nothing. ajv and TypeBox only check;
the others also return a new plant. The faulty plants have two faults, and every library reports both.`,
    asMarkdown(coreTable(core)),
    '## Growth',
    `\`${command} --parts growth --plants 5000000\`; without \`--plants\`, to 1,000,000. Random ids, which no cache helps, in
a SQLite file that grows; ${growth.rounds} rounds at each size, in turn with a new store of ${many(growth.small)} plants.
"Resident" is the process that creates them, SQLite's cache included; "host at rest" is a host on the file that has
answered one request. The longest wave is the one that waits for a checkpoint.`,
    '![What a create costs as the store grows](benchmarks/growth.svg)',
    asMarkdown(growthTable(growth)),
  ].join('\n\n');
};
