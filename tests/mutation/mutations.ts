import { parseAst } from 'vitest/node';

/** A change of a source. */
export type Mutation = {
  readonly kind: 'deleted' | 'negated' | 'turned' | 'replaced';
  /** The text from `start` to `end` is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
};

/** A node of the syntax tree, as in ESTree. */
type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
};

const statements = new Set(
  ['Break', 'Continue', 'Expression', 'ForOf', 'For', 'If', 'Return', 'Throw', 'While'].map(
    (name) => `${name}Statement`,
  ),
);
const turned: Readonly<Record<string, string>> = {
  '&&': '||',
  '||': '&&',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
};

/** Lists each statement to delete, condition to negate, and operator to turn around. */
export function mutationsOf(source: string): readonly Mutation[] {
  const found: Mutation[] = [];
  // oxlint-disable-next-line typescript/no-deprecated -- what replaces it is not exported by vitest/node
  visit(parseAst(source, { lang: 'ts' }), undefined);
  return found;

  function visit(value: unknown, key: string | undefined): void {
    if (Array.isArray(value)) for (const one of value) visit(one, undefined);
    else if (isNode(value)) {
      collect(value, key);
      for (const [name, child] of Object.entries(value)) visit(child, name);
    }
  }

  function collect({ type, start, end, ...node }: Node, key: string | undefined): void {
    if (statements.has(type)) found.push({ kind: 'deleted', start, end, replacement: ';' });
    if (key === 'test') {
      const replacement = `!(${source.slice(start, end)})`;
      found.push({ kind: 'negated', start, end, replacement });
    }
    const { operator, left, right } = node;
    const counterpart = turned[String(operator)];
    if (counterpart === undefined || !isNode(left) || !isNode(right)) return;
    const between = { start: left.end, end: right.start };
    const text = source.slice(between.start, between.end);
    const replacement = text.replace(String(operator), counterpart);
    found.push({ kind: 'turned', ...between, replacement });
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
