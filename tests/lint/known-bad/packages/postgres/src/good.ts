// expected: nothing
import { Socket } from 'node:net';
import { createMemoryRepository } from '@plantstore/core';
import { ok } from 'neverthrow';
import pg from 'pg';

export const good = [Socket, createMemoryRepository, ok, pg] as const;
