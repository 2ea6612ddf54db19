import { expect, it } from 'vitest';
import { takeHandedSockets } from './handed-sockets.ts';

const pid = 4_711;
const handed = (env: Record<string, string>) =>
  takeHandedSockets({ LISTEN_PID: String(pid), ...env }, pid);

it('the program takes the handed-over sockets from descriptor 3 on, by their names', () => {
  expect(handed({ LISTEN_FDS: '1' }).sockets).toEqual({ plants: 3 });
  expect(handed({ LISTEN_FDS: '1', LISTEN_FDNAMES: '' }).sockets).toEqual({ plants: 3 });
  expect(handed({ LISTEN_FDS: '2', LISTEN_FDNAMES: 'health:a.socket' }).sockets).toEqual({
    health: 3,
    plants: 4,
  });
  expect(handed({ LISTEN_FDS: '1', LISTEN_FDNAMES: 'health' }).sockets).toEqual({ health: 3 });
  expect(handed({ LISTEN_FDS: '0' })).toEqual({ sockets: {}, faults: [], warnings: [] });
});

it('the program reports a second handed-over socket for one port', () => {
  const fault =
    'LISTEN_FDS has two sockets for plants; hand over one for plants, and at most one that is named health';
  expect(handed({ LISTEN_FDS: '2' })).toEqual({ sockets: {}, faults: [fault], warnings: [] });
});

it('the program removes the variables of handed-over sockets from the environment in every case', () => {
  for (const owner of ['1', String(pid)]) {
    const env = { LISTEN_PID: owner, LISTEN_FDS: 'x', LISTEN_FDNAMES: 'y', PATH: '/bin' };
    takeHandedSockets(env, pid);
    expect(env).toEqual({ PATH: '/bin' });
  }
  expect(takeHandedSockets({ LISTEN_FDS: '1' }, pid).sockets).toEqual({});
});
