import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';
import type {
  RequestEndEvent,
  RequestErrorEvent,
  RequestStartEvent,
} from '../src/request-events.ts';

/** An event, and the last word of its channel. */
export type Told = readonly [
  step: string,
  event: RequestStartEvent | RequestErrorEvent | RequestEndEvent,
];

/** Keeps every event until the test is over. */
export const recordEvents = () => {
  const told: Told[] = [];
  for (const step of ['start', 'error', 'end']) {
    const note = (event: unknown) => void told.push([step, event as RequestStartEvent]);
    subscribe(`plantstore:request:${step}`, note);
    onTestFinished(() => void unsubscribe(`plantstore:request:${step}`, note));
  }
  return told;
};

/** The steps that were told, in order. */
export const steps = (told: readonly Told[]) => told.map(([step]) => step);
