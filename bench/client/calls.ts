// The process that calls: one contender for one block at a time.
import { getHeapStatistics } from 'node:v8';
import { token } from '../token.ts';
import { type Call, makeContenders } from './contenders.ts';

/** What the process may be asked; the names of the contenders come first. */
export type Question =
  | { readonly ask: 'names'; readonly baseUrl: string }
  | {
      readonly ask: 'block';
      readonly name: string;
      readonly calls: number;
      readonly atATime: number;
      /** Whether a fetch that answers at once stands in for the network. */
      readonly isInjected: boolean;
    };

/** What a block of calls took, for each call. */
export type Block = {
  readonly wallUs: number;
  readonly cpuUs: number;
  /** By how much the heap grew: what was allocated, where it has room for all garbage of a block. */
  readonly heapGrowth: number;
};

const body = '{"name":"Monstera","tag":"climber"}';
const answersAtOnce = async (): Promise<Response> =>
  new Response(body, { headers: { 'Content-Type': 'application/json' } });

type Contenders = Readonly<Record<string, Call>>;
let contenders: { readonly real: Contenders; readonly injected: Contenders } | undefined;

const callMany = async (call: Call, calls: number): Promise<void> => {
  for (let id = 1; id <= calls; id += 1) {
    if ((await call({ id, name: 'Monstera' })) !== 'Monstera') throw new Error('another name');
  }
};

const runBlock = async (call: Call, calls: number, atATime: number): Promise<Block> => {
  globalThis.gc?.();
  const heap = getHeapStatistics().used_heap_size;
  const cpu = process.cpuUsage();
  const began = performance.now();
  await Promise.all(Array.from({ length: atATime }, async () => callMany(call, calls / atATime)));
  const wallUs = ((performance.now() - began) * 1_000) / calls;
  const { user, system } = process.cpuUsage(cpu);
  return {
    wallUs,
    cpuUs: (user + system) / calls,
    heapGrowth: (getHeapStatistics().used_heap_size - heap) / calls,
  };
};

const answer = async (question: Question): Promise<unknown> => {
  if (question.ask === 'names') {
    const { baseUrl } = question;
    contenders = {
      real: await makeContenders(baseUrl, token, undefined),
      injected: await makeContenders(baseUrl, token, answersAtOnce),
    };
    return Object.keys(contenders.real);
  }
  const call = contenders?.[question.isInjected ? 'injected' : 'real'][question.name];
  if (call === undefined) throw new Error('no contender has this name');
  return runBlock(call, question.calls, question.atATime);
};

process.on('message', (question: Question) => {
  void answer(question).then((told) => process.send?.(told));
});
