import { parseSync, type Statement, Visitor } from 'oxc-parser';

/** A change of one piece of code. */
export type Change = {
  readonly kind: 'deleted statement' | 'dropped guard' | 'negated condition' | 'skipped await';
  /** The replaced code, as offsets. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
};

const jumps = ['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement'];

/** The last statement of a branch, and whether it is the only one. */
const lastOf = (branch: Statement): readonly [Statement | undefined, boolean] =>
  branch.type === 'BlockStatement'
    ? [branch.body.at(-1), branch.body.length === 1]
    : [branch, true];

/**
 * Returns the changes of a source file. Leaves out those that the compiler or nearly every test would notice, such as
 * a deleted `return` of a value.
 */
export const changesOf = (file: string, source: string): readonly Change[] => {
  const changes: Change[] = [];
  /** The jumps that end a guard, which is dropped as a whole. */
  const inGuards = new Set<object>();
  const remove = (kind: Change['kind'], { start, end }: Statement): unknown =>
    changes.push({ kind, start, end, replacement: ';' });
  const negate = ({ start, end }: { readonly start: number; readonly end: number }): unknown =>
    changes.push({
      kind: 'negated condition',
      start,
      end,
      replacement: `!(${source.slice(start, end)})`,
    });
  const removeJump = (jump: Statement): void => {
    if (!inGuards.has(jump)) remove('deleted statement', jump);
  };
  new Visitor({
    ExpressionStatement(statement) {
      if (statement.directive !== null && statement.directive !== undefined) return;
      remove('deleted statement', statement);
      const { expression } = statement;
      if (expression.type !== 'AwaitExpression') return;
      const { start, end, argument } = expression;
      const replacement = `void ${source.slice(argument.start, argument.end)}`;
      changes.push({ kind: 'skipped await', start, end, replacement });
    },
    IfStatement(statement) {
      const [last, isAlone] = lastOf(statement.consequent);
      if (last === undefined || statement.alternate !== null || !jumps.includes(last.type))
        return void negate(statement.test);
      remove('dropped guard', statement);
      if (isAlone) inGuards.add(last);
    },
    ConditionalExpression: ({ test }) => void negate(test),
    WhileStatement: ({ test }) => void negate(test),
    BreakStatement: removeJump,
    ContinueStatement: removeJump,
    ThrowStatement: removeJump,
    ReturnStatement: (statement) => {
      if (statement.argument === null) removeJump(statement);
    },
  }).visit(parseSync(file, source).program);
  return changes;
};
