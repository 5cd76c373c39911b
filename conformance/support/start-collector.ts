import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  /** Values as they are written, of any kind. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number };
};

export type Collector = {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** The received text, unchanged. */
  readonly text: () => string;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

type Written = Omit<CollectedSpan, 'attributes'> & {
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
};

/** An OpenTelemetry collector with the features that Weir needs: accepts spans as JSON over HTTP and stores them. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let received = '';
  // Longer than an exporter keeps idle connections, so that it never uses one that is being closed.
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      received += text;
      const body = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: Written[] }[] }[] };
      for (const written of body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))) {
        spans.push({
          ...written,
          attributes: Object.fromEntries(written.attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
        });
      }
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
