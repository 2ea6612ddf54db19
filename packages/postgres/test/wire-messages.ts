// The part of PostgreSQL's frontend/backend protocol (version 3) that the proxy of the tests uses.

/** A statement that a client sends. */
export type SentStatement = {
  readonly text: string;
  /** The name of the prepared statement; empty for an unnamed one. */
  readonly name: string;
  /** Whether the client sends the text, and not only the name of a statement that it has prepared. */
  readonly isParsed: boolean;
};

const cString = (bytes: Buffer, from: number): string =>
  bytes.toString('utf8', from, bytes.indexOf(0, from));

/** Returns the first two strings of a message: name and text of Parse, portal and name of Bind. */
const twoStrings = (bytes: Buffer): [string, string] => {
  const first = cString(bytes, 5);
  return [first, cString(bytes, 5 + Buffer.byteLength(first) + 1)];
};

const message = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

/** Creates a Query message. */
export const simpleQuery = (text: string): Buffer => message('Q', Buffer.from(`${text}\0`));

/** A ReadyForQuery message. */
export const readyForQuery: Buffer = message('Z', Buffer.from('I'));

/** Creates an ErrorResponse message. */
export const errorResponse = (code: string, severity = 'ERROR'): Buffer =>
  message('E', Buffer.from(`S${severity}\0V${severity}\0C${code}\0Msimulated by the test\0\0`));

const readMessage = (bytes: Buffer, isStartup: boolean): Buffer | undefined => {
  const lengthAt = isStartup ? 0 : 1;
  if (bytes.length < lengthAt + 4) return undefined;
  const end = lengthAt + bytes.readInt32BE(lengthAt);
  return bytes.length < end ? undefined : bytes.subarray(0, end);
};

const sslRequestLength = 8;

/** Messages that a client sends before it waits for a response. */
export type Round = { readonly bytes: Buffer; readonly statement: SentStatement | undefined };

/** Splits the data of a client into rounds: a step of the login, or one statement. */
export const createRoundReader = (): ((chunk: Buffer) => Round[]) => {
  let unread = Buffer.alloc(0);
  let isStartup = true;
  let held: Buffer[] = [];
  let statement: SentStatement | undefined;
  const prepared = new Map<string, string>();
  return (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    const rounds: Round[] = [];
    for (;;) {
      const cut = readMessage(unread, isStartup);
      if (cut === undefined) return rounds;
      unread = unread.subarray(cut.length);
      held.push(cut);
      const type = isStartup ? '' : String.fromCharCode(cut[0] ?? 0);
      if (isStartup && cut.length > sslRequestLength) isStartup = false;
      if (type === 'Q') statement = { text: cString(cut, 5), name: '', isParsed: true };
      if (type === 'P') {
        const [name, text] = twoStrings(cut);
        prepared.set(name, text);
        statement = { name, text, isParsed: true };
      }
      if (type === 'B' && statement === undefined) {
        const [_portal, name] = twoStrings(cut);
        statement = { name, text: prepared.get(name) ?? '', isParsed: false };
      }
      if ('PBDE'.includes(type) && type !== '') continue;
      rounds.push({ bytes: Buffer.concat(held), statement });
      held = [];
      statement = undefined;
    }
  };
};
