import { describe, expect, it } from 'vitest';
import { describeCause } from './describe-cause.ts';

describe('a cause as text', () => {
  it('has the messages, stacks and codes of errors, to the bottom', () => {
    const deep = Object.assign(new TypeError('deep down'), { code: 'ECONNREFUSED' });
    const told = describeCause(new Error('on top', { cause: deep }));
    expect(told).toMatch(/^Error: on top\n {4}at [^]*\ncaused by: TypeError: deep down\n {4}at /);
    expect(told).toMatch(/ \[ECONNREFUSED\]$/);
  });

  it('has every error of several', () => {
    const several = new AggregateError([new Error('one'), new Error('two')], 'no address answers');
    expect(describeCause(several)).toMatch(
      /^AggregateError: no address answers[^]*by: Error: one[^]*by: Error: two/,
    );
  });

  it('has the reason that a store gives, and what its driver reported', () => {
    expect(describeCause({ reason: 'the disk is full', cause: undefined })).toBe(
      'the disk is full',
    );
    expect(describeCause({ reason: 'the disk is full', cause: 'SQLITE_FULL' })).toBe(
      'the disk is full\ncaused by: SQLITE_FULL',
    );
  });

  it('has nothing else that is on an error', () => {
    const error = Object.assign(new Error('Invalid URL'), {
      code: 'ERR_INVALID_URL',
      input: 'postgres://plants:s3cr3t@db',
      detail: 'Failing row contains (7, s3cr3t)',
    });
    expect(describeCause(error)).not.toContain('s3cr3t');
    expect(describeCause({ config: 's3cr3t' })).toBe('something that is not an error (object)');
  });

  it('has no credentials', () => {
    const error = new Error(
      'cannot send Authorization: Bearer s3cr3t to postgres://ada:s3cr3t@db.example/garden',
    );
    const described = describeCause(error);
    expect(described).toContain('Bearer … to postgres://ada:…@db.example/garden');
    expect(described).not.toContain('s3cr3t');
  });

  it('ends, whatever was thrown', () => {
    const circle = new Error('round');
    circle.cause = circle;
    expect(describeCause(circle).match(/Error: round/g)).toHaveLength(6);
    const trap = new Error('x');
    Object.defineProperty(trap, 'stack', {
      get() {
        throw new Error('no');
      },
    });
    expect(describeCause(trap)).toBe('a cause that cannot be read');
    for (const odd of [undefined, null, 7, () => 1])
      expect(describeCause(odd)).toMatch(/not an error/);
  });
});
