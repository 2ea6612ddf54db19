// Prints in which trace the app is called. The trace of a request is named by its `traceparent`.
import { trace } from '@opentelemetry/api';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

const provider = new NodeTracerProvider();
provider.register();
new HttpInstrumentation().setTracerProvider(provider);
const { servePipelined } = await import('./serve-pipelined.mjs');
await servePipelined(
  (what, id) => {
    const traceId = trace.getActiveSpan()?.spanContext().traceId ?? 'none';
    console.log(`${what} of ${id} as ${traceId.replace(/^0+/, '')}`);
  },
  (id) => [`traceparent: 00-${id.padStart(32, '0')}-${'1'.padStart(16, '0')}-01`],
);
