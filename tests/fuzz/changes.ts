import fc from 'fast-check';
import { anyBytes, rarely } from './arbitraries.ts';

/** A mutation of the bytes of a client. */
export type Change = (bytes: string) => string;

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
/** Any mutation. */
export const change: fc.Arbitrary<Change> = fc
  .record({
    kind: fc.constantFrom('flip', 'insert', 'delete', 'repeat', 'swap', 'cut'),
    at: place,
    to: place,
    size: fc.integer({ min: 1, max: 40 }),
    bytes: fc.oneof(
      { weight: 1, arbitrary: anyBytes },
      rarely('\r\n', '\n', '\0', '\r\n\r\n', ' ', ':', '\xff', '%'),
    ),
  })
  .map(({ kind, at, to, size, bytes }) => (text) => {
    const start = Math.floor(at * text.length);
    const other = Math.floor(to * text.length);
    const [before, piece, after] = [
      text.slice(0, start),
      text.slice(start, start + size),
      text.slice(start + size),
    ];
    switch (kind) {
      case 'flip':
        return `${before}${String.fromCharCode((text.charCodeAt(start) ^ (1 << (size % 8))) & 0xff)}${text.slice(start + 1)}`;
      case 'insert':
        return before + bytes + piece + after;
      case 'delete':
        return before + after;
      case 'repeat':
        return before + piece + piece + after;
      case 'swap':
        return text.slice(0, other) + piece + text.slice(other);
      default:
        return before;
    }
  });
