import { IncomingMessage } from './builtin-http.ts';
import type { IncomingBody } from './incoming-body.ts';

/**
 * A request that passes its body on as Node parses it, because a stream takes a tenth of the CPU time of a request.
 * It becomes a stream if it has a listener.
 */
export class DirectRequest extends IncomingMessage {
  /** Receives the body, unless the request is a stream. */
  receiver: IncomingBody | undefined;
  /** Internals of Node 22, 24 and 26. */
  declare private _consuming: boolean;
  declare private readonly _readableState: { endEmitted: boolean };

  /** Called by Node's parser, at the end of the body with `null`. */
  override push(chunk: Buffer | null): boolean {
    const { receiver } = this;
    if (receiver === undefined) return super.push(chunk);
    if (this.readableFlowing !== null || this.eventNames().length > 0) {
      this.receiver = undefined;
      receiver.listen();
      return super.push(chunk);
    }
    if (chunk === null) {
      // Otherwise, Node would read the stream to its end, and keep the request until then.
      this._consuming = true;
      this._readableState.endEmitted = true;
      receiver.end();
    } else receiver.add(chunk);
    return true;
  }
}
