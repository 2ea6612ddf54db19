/**
 * The operation of the service: its method, and its path below the base URL.
 *
 * @example
 * ```ts
 * import { operation } from '@plantstore/core/wire';
 *
 * const { method, path } = operation; // 'POST', '/plants'
 * const response = await fetch(`http://localhost:3000${path}`, { method });
 * ```
 */
export const operation = { method: 'POST', path: '/plants' } as const;
