import { describe, expect, it } from 'vitest';
import { describeAuthenticateError, describeCause } from './describe-cause.ts';

describe('description of a cause', () => {
  it('the description of a cause has the messages, stacks and codes of an error and its causes', () => {
    const deep = Object.assign(new TypeError('deep down'), { code: 'ECONNREFUSED' });
    const described = describeCause(new Error('on top', { cause: deep }));
    expect(described).toMatch(
      /^Error: on top\n {4}at [^]*\ncaused by: TypeError: deep down\n {4}at /,
    );
    expect(described).toMatch(/ \[ECONNREFUSED\]$/);
  });

  it('the description of a cause has the reason of a store error, and the cause that its driver reported', () => {
    expect(describeCause({ reason: 'the disk is full', cause: undefined })).toBe(
      'the disk is full',
    );
    expect(describeCause({ reason: 'the disk is full', cause: 'SQLITE_FULL' })).toBe(
      'the disk is full\ncaused by: SQLITE_FULL',
    );
  });

  it('the description of a cause has no other property of an error', () => {
    const error = Object.assign(new Error('Invalid URL'), {
      code: 'ERR_INVALID_URL',
      input: 'postgres://plants:s3cr3t@db',
      detail: 'Failing row contains (7, s3cr3t)',
    });
    expect(describeCause(error)).not.toContain('s3cr3t');
    expect(describeCause({ config: 's3cr3t' })).toBe('something that is not an error (object)');
  });

  it('the description of a cause redacts credentials', () => {
    const error = new Error(
      'cannot send Authorization: Bearer s3cr3t to postgres://ada:s3cr3t@db.example/garden',
    );
    const described = describeCause(error);
    expect(described).toContain('Bearer … to postgres://ada:…@db.example/garden');
    expect(described).not.toContain('s3cr3t');
  });

  it("the description of authenticate's error has its causes without the token, in any encoding", () => {
    const cause = Object.assign(new TypeError('refused mf_9~%2B in mF_9%7e+'), { code: 'E_TOKEN' });
    const error = new Error('cannot verify mF_9~+', { cause });
    expect(describeAuthenticateError(error, 'mF_9~+')).toMatch(
      /^Error: cannot verify …\n[^]*\ncaused by: TypeError: refused … in …\n[^]* \[E_TOKEN\]$/,
    );
  });

  it('the description of a cause exists for every value that can be thrown', () => {
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
