/**
 * The operation of the service: its method, and its path below the base URL.
 *
 * @example
 * ```ts
 * import { operation } from '@plantstore/core/wire';
 *
 * const response = await fetch(`http://localhost:3000${operation.path}`, { method: operation.method });
 * ```
 */
export const operation = { method: 'POST', path: '/plants' } as const;
