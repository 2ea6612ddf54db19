import { err, ok, type Result } from 'neverthrow';
import { type Address, type DatabaseUrl, nameOf, readDatabaseUrl } from './database-url.ts';
import {
  connectError,
  type Fault,
  faultOf,
  isLoginRefused,
  type OpenPostgresError,
} from './errors.ts';
import { readPassFile } from './pass-file.ts';
import { type Session, type SessionOptions, startSession } from './session.ts';

/**
 * The servers of a URL, which is read for each connection, because its files can change, as in
 * libpq. A server permits logins, or has refused one: logins with the same password then pause,
 * longer after each refusal, until it accepts one.
 */
export class Servers {
  readonly #options: ServersOptions;
  readonly #refusals = new Map<string, Refusal>();
  #isFirstLogin = true;

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  /** Connects to the first server that can be used. The one that failed last is tried last. */
  async connect(failed?: string): Promise<Result<Connected, NotConnected>> {
    const read = readDatabaseUrl(this.#options.url, process.env);
    if (read.isErr()) return err({ error: read.error, isRefused: false });
    const url = { ...read.value, ...this.#timeoutsOf(read.value) };
    const isFailed = (one: Address) => Number(nameOf(one) === failed);
    const faults: ServerFault[] = [];
    let readable: Session | undefined;
    for (const address of url.addresses.toSorted((a, b) => isFailed(a) - isFailed(b))) {
      const password = url.password ?? (await readPassFile(address, url));
      const { session, fault } = await this.#try(address, { ...url, password });
      if (session !== undefined && fault === undefined) {
        void readable?.close();
        return ok({ session, url });
      }
      if (fault !== undefined) faults.push(fault);
      readable ??= session;
      if (readable !== session) void session?.close();
    }
    if (readable !== undefined) return ok({ session: readable, url });
    const isRefused = faults.every((fault) => fault.isRefused === true);
    return err({ error: connectError(url, faults), isRefused });
  }

  /** Only the first login waits for a server that resumes: later ones are retried, elsewhere. */
  #timeoutsOf(url: DatabaseUrl) {
    const { statementTimeoutMs } = this.#options;
    const wantedMs = this.#options.connectTimeoutMs ?? url.connectTimeoutMs;
    const connectTimeoutMs = wantedMs ?? 2_000;
    const isPatient = wantedMs === undefined && this.#isFirstLogin;
    this.#isFirstLogin = false;
    const loginTimeoutMs = isPatient ? 10_000 : connectTimeoutMs;
    return { connectTimeoutMs, loginTimeoutMs, statementTimeoutMs };
  }

  async #try(address: Address, url: SessionOptions): Promise<Tried> {
    const server = nameOf(address);
    const { password } = url;
    const refusal = this.#refusals.get(server);
    const isPaused = refusal !== undefined && performance.now() < refusal.endsAt;
    if (isPaused && refusal.password === password) return refusal;
    let session: Session | undefined;
    try {
      session = await startSession(address, url);
      this.#refusals.delete(server);
      return await this.#examine(session, url.loginTimeoutMs);
    } catch (thrown) {
      session?.abandon()?.();
      const isRefused = session === undefined && isLoginRefused(thrown);
      const fault = { ...faultOf(server, thrown), isRefused };
      if (!isRefused) return { fault };
      const pauseMs = Math.min(2 * (refusal?.pauseMs ?? 500), 30_000);
      const endsAt = performance.now() + pauseMs;
      this.#refusals.set(server, { fault, password, pauseMs, endsAt });
      return { fault };
    }
  }

  /** Finds out what a server can be used for. Closes its session if it is for nothing. */
  async #examine(session: Session, timeoutMs: number): Promise<Tried> {
    const [state] = await session.read<ServerState>(serverState, [], timeoutMs);
    if (state === undefined || state.kind === null) return { session };
    const fault = { kind: state.kind, detail: session.server };
    if (this.#options.readsOnly === true && state.isReadable) return { session, fault };
    // Not awaited: meanwhile, the next server is tried.
    void session.close();
    return { fault };
  }
}

type Connected = { readonly session: Session; readonly url: DatabaseUrl };
/** An error, and whether every server refuses the login. */
type NotConnected = { readonly error: OpenPostgresError; readonly isRefused: boolean };

type ServersOptions = {
  readonly url: string;
  readonly statementTimeoutMs: number;
  /** Default: as in the URL. */
  readonly connectTimeoutMs?: number | undefined;
  /** Whether a read-only server with the table is used if there is no other. Default: `false`. */
  readonly readsOnly?: boolean;
};

/** A connection, the reason why it or the server cannot be used for creates, or both. */
type Tried = { readonly session?: Session; readonly fault?: ServerFault };
type ServerFault = Fault & { readonly isRefused?: boolean };
type Refusal = Tried & { password: string | undefined; pauseMs: number; endsAt: number };

type ServerState = { readonly kind: Fault['kind'] | null; readonly isReadable: boolean };

// The transactions of a standby are read-only, too.
const serverState = `SELECT encoding = 'UTF8' AND to_regclass('plants') IS NOT NULL AS "isReadable",
    CASE WHEN encoding <> 'UTF8' THEN 'encoding-unsupported'
      WHEN current_setting('transaction_read_only') = 'on' THEN 'standby-only' END AS kind
  FROM current_setting('server_encoding') AS encoding`;
