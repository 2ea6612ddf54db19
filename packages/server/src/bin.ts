#!/usr/bin/env node
import { main } from './main.ts';

const { stdout, stderr, env, argv } = process;

process.exit(await main({ argv: argv.slice(2), env, stdout, stderr, signals: process }));
