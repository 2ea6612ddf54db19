// For browsers: reads the settings from the page's origin and sends the findings to it.
import { createClient } from '@plantstore/client';
import { runSuite, type Settings } from './suite.ts';

const settings = (await (await fetch('/settings')).json()) as Settings;
const body = JSON.stringify(await runSuite({ createClient }, settings));
await fetch('/findings', { method: 'POST', body });
