import { expect, it } from 'vitest';
import { findPassword } from './pass-file.ts';

const find = (text: string, host = 'db.example') =>
  findPassword(text, { host, port: 5432 }, 'garden', 'ada');

it('the first line that fits has the password, whatever is escaped in it', () => {
  const lines = [
    '# comment',
    'other:*:*:*:no',
    String.raw`db.example:5432:*:ada:s\:e\\c`,
    '*:*:*:*:late',
  ];
  expect(find(lines.join('\r\n'))).toBe(String.raw`s:e\c`);
  expect(find('*:*:garden:ada:yes')).toBe('yes');
  expect(find('localhost:*:*:*:socket', '/tmp')).toBe('socket');
  expect(find('*:1:*:*:no\n*:*:*:bob:no\n*:*:x:*:no\nnonsense\n')).toBeUndefined();
});
