import type { ClientAddressOf } from '../http/client-address.ts';
import type { Service } from '../http/service.ts';
import type { Logger } from '../http/logger.ts';

/** State that the connections and exchanges of a server share. */
export type ServerContext = {
  readonly service: Service;
  readonly logger: Logger;
  readonly clientAddressOf: ClientAddressOf;
  /** Maximum number of requests in flight: admitted, and not decided. */
  readonly maxInFlight: number;
  inFlight: number;
  readonly isClosing: () => boolean;
};
