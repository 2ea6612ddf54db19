import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';
import type {
  RequestEndEvent,
  RequestErrorEvent,
  RequestStartEvent,
} from '../src/http/request-record.ts';

/** An event, and the last part of the name of its channel. */
export type RecordedEvent = readonly [
  step: string,
  event: RequestStartEvent | RequestErrorEvent | RequestEndEvent,
];

/** Records all events until the end of the test. */
export const recordEvents = () => {
  const events: RecordedEvent[] = [];
  for (const step of ['start', 'error', 'end']) {
    const record = (event: unknown) => void events.push([step, event as RequestStartEvent]);
    subscribe(`plantstore:request:${step}`, record);
    onTestFinished(() => void unsubscribe(`plantstore:request:${step}`, record));
  }
  return events;
};

/** Returns the steps of events, in order. */
export const steps = (events: readonly RecordedEvent[]) => events.map(([step]) => step);
