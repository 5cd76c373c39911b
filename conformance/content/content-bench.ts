import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An event that the collector received: its attributes as plain values. */
type Collected = { readonly eventName: string; readonly traceId?: string; readonly attributes: Readonly<Record<string, any>> };

export type LogCollector = {
  readonly url: string;
  readonly events: readonly Collected[];
  /** Everything received, unchanged. */
  readonly text: () => string;
  /** Whether it refuses everything from now on. */
  isDown: boolean;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** A value as OTLP writes it. */
function plain(value: any): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(plain);
  if (value.kvlistValue !== undefined)
    return Object.fromEntries(value.kvlistValue.values.map((entry: any) => [entry.key, plain(entry.value)]));
  if (value.intValue !== undefined) return Number(value.intValue);
  return Object.values(value)[0];
}

/** A collector of OpenTelemetry that receives logs as JSON over HTTP, and can be down. */
export async function startLogCollector(): Promise<LogCollector> {
  const events: Collected[] = [];
  let received = '';
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      if (collector.isDown) return response.writeHead(503).end();
      const text = Buffer.concat(chunks).toString();
      received += text;
      for (const resource of JSON.parse(text).resourceLogs)
        for (const scope of resource.scopeLogs)
          for (const record of scope.logRecords)
            events.push({
              ...record,
              attributes: Object.fromEntries(record.attributes.map(({ key, value }: any) => [key, plain(value)])),
            });
      return response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const collector: LogCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs`,
    events,
    text: () => received,
    isDown: false,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return collector;
}

/** All bytes below a folder, also of files that are being written. The program may delete files meanwhile. */
export function readAll(folder: string): string {
  if (!existsSync(folder)) return '';
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => readIfFile(join(folder, name)))
    .join('\n');
}

function readIfFile(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (['ENOENT', 'EISDIR'].includes(String((error as NodeJS.ErrnoException).code))) return '';
    throw error;
  }
}

/** The lines of all files of JSON Lines below a folder. */
export function readLines(folder: string): readonly any[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line));
}

const said = (text: string): unknown => [{ role: 'user', content: text }];

/** How to ask in each chat interface, whole or streamed, and at which model. */
export const chats = {
  'openai-chat': (text: string, stream: boolean, model = 'gpt-5-mini') => ({
    path: '/v1/chat/completions',
    body: {
      model,
      stream,
      messages: [
        { role: 'system', content: 'Answer in one word.' },
        { role: 'user', content: text },
      ],
    },
  }),
  'openai-responses': (text: string, stream: boolean, model = 'gpt-5-mini') => ({
    path: '/v1/responses',
    body: { model, stream, instructions: 'Answer in one word.', input: text, store: false },
  }),
  'anthropic-messages': (text: string, stream: boolean, model = 'claude-sonnet-4-5') => ({
    path: '/v1/messages',
    body: { model, stream, max_tokens: 100, system: 'Answer in one word.', messages: said(text) },
  }),
  'gemini-generate-content': (text: string, stream: boolean, model = 'gemini-2.5-flash') => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    body: {
      systemInstruction: { parts: [{ text: 'Answer in one word.' }] },
      contents: [{ role: 'user', parts: [{ text }] }],
    },
  }),
} as const;
