// For a browser: settings come from the page's own origin, findings go back there.
import { createClient, createPlants } from '@plantstore/client';
import { runSuite, type Settings } from './suite.ts';

const run = async () => {
  const settings = (await (await fetch('/settings')).json()) as Settings;
  const body = JSON.stringify(await runSuite({ createClient, createPlants }, settings));
  await fetch('/findings', { method: 'POST', body });
};

// The oldest browsers have no top-level await.
void run();
