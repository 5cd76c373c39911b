import OpenAI from 'openai';

import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { type Answer, call } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway, type StartSimulatedWeirOptions } from '../support/start-simulated-weir.ts';

/** A Weir with simulated vendors; the tests order images with the vendor's SDK. */
export type ImageWeir = SimulatedWeir & {
  readonly ledger: Ledger;
  readonly client: (key?: string) => OpenAI;
  readonly receipt: (callId: string) => Promise<Answer>;
};

/** Two targets of which the first never answers, and a server that imitates the vendor. */
const models = {
  'second-picture': {
    targets: [
      { upstream: 'broken', model: 'gpt-image-1.5' },
      { upstream: 'gemini', model: 'gemini-2.5-flash-image' },
    ],
  },
  'own-picture': { targets: [{ upstream: 'own', model: 'stable-diffusion' }] },
};

export async function startImageWeir(options: StartSimulatedWeirOptions = {}): Promise<ImageWeir> {
  const running = await startSimulatedGateway({
    retries: { attemptsMax: 3, avoidFailing: false },
    upstreams: (addresses) => ({
      broken: { vendor: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'x' },
      own: { vendor: 'openai-compatible', baseUrl: addresses.openai, apiKey: 'x', forwardHeaders: ['x-simulator-*'] },
    }),
    models,
    ...options,
  });
  const { weir } = running;
  const ledger = await openLedger(weir.dataDirectory);
  return {
    ...running,
    ledger,
    client: (apiKey = weir.apiKey) => new OpenAI({ baseURL: `${weir.gatewayUrl}/v1`, apiKey, maxRetries: 0 }),
    receipt: (callId) => call(`${weir.gatewayUrl}/v1/receipts/${callId}`, { headers: { authorization: `Bearer ${weir.apiKey}` } }),
    [Symbol.asyncDispose]: async () => {
      await ledger.close();
      await running[Symbol.asyncDispose]();
    },
  };
}

/** Recognises the type of an image by its first bytes. */
export function kindOf(base64: string | undefined): string {
  const bytes = Buffer.from(base64 ?? '', 'base64');
  if (bytes.toString('latin1', 1, 4) === 'PNG') return 'png';
  if (bytes.toString('latin1', 8, 12) === 'WEBP') return 'webp';
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? 'jpeg' : 'none';
}

/** The smallest file that is accepted as a PNG. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
