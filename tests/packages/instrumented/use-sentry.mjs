// Prints for which user each event is reported.
import * as Sentry from '@sentry/node';

Sentry.init({
  dsn: 'http://key@127.0.0.1:1/1',
  beforeSend({ message, user }) {
    console.log(`${message} as ${user?.id}`);
    return null;
  },
});
const { servePipelined } = await import('./serve-pipelined.mjs');
await servePipelined((what, id) => {
  if (what === 'authenticate') Sentry.setUser({ id });
  Sentry.captureMessage(`${what} of ${id}`);
});
Sentry.captureMessage('timer');
await Sentry.flush();
