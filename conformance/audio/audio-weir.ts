import { join } from 'node:path';

import OpenAI from 'openai';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { readEntryText, selectCalls } from '../../src/store/operations/call-shapes.ts';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { eventually } from '../support/http.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { type RunningWeir, type ServedWeir, type ServeWeirOptions, startWeir, type StartWeirOptions } from '../support/start-weir.ts';
import { type Answer, type AudioUpstream, startAudioUpstream } from './start-audio-upstream.ts';

/** A Weir with two upstreams: `vendor`, and `server`, which imitates the vendor. The test controls both. */
export type AudioWeir<Weir extends ServedWeir = ServedWeir> = {
  readonly weir: Weir;
  readonly upstream: AudioUpstream;
  readonly second: AudioUpstream;
  readonly client: OpenAI;
  /** The rows of the ledger, oldest first, as soon as there are at least this many. */
  readonly rows: (count: number) => Promise<readonly CallEntry[]>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** The credential that the upstreams receive. */
export const audioKey = 'sk-audio-upstream-0123456789';

export type AudioWeirOptions = {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly models?: Readonly<Record<string, object>>;
  readonly weir?: Omit<ServeWeirOptions, 'config'>;
  readonly quirks?: object;
  readonly preset?: string;
};

const models = {
  'tts-1': { targets: [{ upstream: 'vendor', model: 'tts-1' }] },
  'gpt-4o-mini-tts': { targets: [{ upstream: 'vendor', model: 'gpt-4o-mini-tts' }] },
  'whisper-1': { targets: [{ upstream: 'vendor', model: 'whisper-1' }] },
  'gpt-4o-transcribe': { targets: [{ upstream: 'vendor', model: 'gpt-4o-transcribe' }] },
  renamed: { targets: [{ upstream: 'vendor', model: 'whisper-1' }] },
  'own-whisper': { targets: [{ upstream: 'server', model: 'Systran/faster-whisper-small' }] },
  'own-voice': { targets: [{ upstream: 'server', model: 'kokoro' }] },
  'two-targets': {
    targets: [
      { upstream: 'vendor', model: 'whisper-1' },
      { upstream: 'server', model: 'whisper-1' },
    ],
  },
};

/** Runs Weir in this process, without the monitor. */
export function startAudioWeir(answer: Answer, options: AudioWeirOptions = {}): Promise<AudioWeir> {
  return startWith((config) => serveWeir({ command: 'gateway', ...options.weir, config }), answer, options);
}

/** Runs Weir in processes of its own. */
export function startAudioProgram(
  answer: Answer,
  options: Omit<AudioWeirOptions, 'weir'> & { readonly weir?: Omit<StartWeirOptions, 'config'> } = {},
): Promise<AudioWeir<RunningWeir>> {
  return startWith((config) => startWeir({ ...options.weir, config }), answer, options);
}

async function startWith<Weir extends ServedWeir>(
  start: (config: string) => Promise<Weir>,
  answer: Answer,
  options: Omit<AudioWeirOptions, 'weir'>,
): Promise<AudioWeir<Weir>> {
  const upstream = await startAudioUpstream(answer);
  const second = await startAudioUpstream(answer);
  const config = {
    retries: { attemptsMax: 3, avoidFailing: false },
    overload: neverOverloaded,
    ...options.config,
    upstreams: {
      vendor: { vendor: 'openai', baseUrl: upstream.url, apiKey: audioKey },
      server: {
        vendor: 'openai-compatible',
        baseUrl: second.url,
        ...(options.preset === undefined ? {} : { preset: options.preset }),
        ...(options.quirks === undefined ? {} : { quirks: options.quirks }),
      },
    },
    models: { ...models, ...options.models },
  };
  const weir = await start(JSON.stringify(config));
  return {
    weir,
    upstream,
    second,
    client: new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey: weir.apiKey, maxRetries: 0 }),
    rows: (count) =>
      eventually(
        () => readRows(weir.dataDirectory),
        (rows) => rows.length >= count,
      ),
    [Symbol.asyncDispose]: async () => {
      await weir[Symbol.asyncDispose]();
      await upstream.close();
      await second.close();
    },
  };
}

/** The rows of a ledger, oldest first. */
export function readRows(dataDirectory: string): readonly CallEntry[] {
  const database = openDatabase(join(dataDirectory, 'weir.sqlite'), { readOnly: true, busyTimeoutMs: 30_000 });
  try {
    return database.all(`${selectCalls} order by accepted_at_ms, call_id`).map((row) => JSON.parse(readEntryText(row)) as CallEntry);
  } finally {
    database.close();
  }
}
