// For Node, Deno and Bun: reads the settings from an argument and prints the findings.
import { createClient } from '@plantstore/client';
import { runSuite, type Settings } from './suite.ts';

const [, , settings = '{}'] = process.argv;
console.log(JSON.stringify(await runSuite({ createClient }, JSON.parse(settings) as Settings)));
// Requests without a response would keep the process alive.
process.exit();
