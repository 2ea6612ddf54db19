import type { ClientAddressOf } from '../http/client-address.ts';
import type { Service } from '../http/service.ts';
import type { Logger } from '../logger.ts';

/** What the connections and exchanges of a server share. */
export type ServerContext = {
  readonly service: Service;
  readonly logger: Logger;
  readonly clientAddressOf: ClientAddressOf;
  /** How many requests may be in flight: admitted, and not decided. */
  readonly maxInFlight: number;
  inFlight: number;
  readonly isClosing: () => boolean;
};
