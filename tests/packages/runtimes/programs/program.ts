// For Node, Deno and Bun: settings come as an argument, findings go to standard output.
import { createClient, createPlants } from '@plantstore/client';
import { runSuite, type Settings } from './suite.ts';

const [, , settings = '{}'] = process.argv;
console.log(
  JSON.stringify(await runSuite({ createClient, createPlants }, JSON.parse(settings) as Settings)),
);
// What a server never answers must not keep the program.
process.exit();
