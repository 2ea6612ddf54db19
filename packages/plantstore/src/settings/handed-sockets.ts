/**
 * Reads which sockets systemd's socket activation hands to this process (sd_listen_fds(3)). Removes
 * the variables, because they are for this process only.
 */
export function takeHandedSockets(env: Record<string, string | undefined>, pid: number): Handover {
  const { LISTEN_FDS: count, LISTEN_PID: owner, LISTEN_FDNAMES: names = '' } = env;
  for (const variable of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES']) delete env[variable];
  if (count === undefined || owner === undefined) return nothingHanded;
  if (owner === String(pid)) return readSockets(count, names.split(':'));
  const reason = `LISTEN_PID is ${owner}, and this process is ${pid}`;
  const advice = 'start the server without a wrapper such as npx or a shell';
  const warning = `the handed-over sockets are not used: ${reason}; ${advice}`;
  return { ...nothingHanded, warnings: [warning] };
}

export type HandedSockets = {
  readonly plants?: number;
  readonly health?: number;
};

/** What the service manager hands over, and the problems with it. */
export type Handover = {
  readonly sockets: HandedSockets;
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
};

export const nothingHanded: Handover = { sockets: {}, faults: [], warnings: [] };

/** The first file descriptor that systemd hands over (sd_listen_fds(3)). */
const firstFd = 3;

/** Name of the health port's socket (`FileDescriptorName=`); any other is for plants. */
const healthName = 'health';

function readSockets(count: string, names: readonly string[]): Handover {
  const sockets: { plants?: number; health?: number } = {};
  for (let index = 0; index < Number(count); index += 1) {
    const part = names[index] === healthName ? 'health' : 'plants';
    if (sockets[part] !== undefined) {
      const rule = `hand over one for plants, and at most one that is named ${healthName}`;
      return { ...nothingHanded, faults: [`LISTEN_FDS has two sockets for ${part}; ${rule}`] };
    }
    sockets[part] = firstFd + index;
  }
  return { ...nothingHanded, sockets };
}
