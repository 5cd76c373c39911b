import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';

import { defaultLimits } from '../../src/gateway/settings/limits.ts';
import { call } from '../support/http.ts';
import { residentBytes } from '../support/process-memory.ts';
import { startWeir } from '../support/start-weir.ts';
import { duration, type Figure, size } from './figures.ts';

/** A body is unpacked up to the largest request size; the rest of it becomes garbage. */
const unpackedBytesMax = defaultLimits.requestBytesMax;
/** Latency of other calls meanwhile. */
const otherCallMsMax = 250;

/** R9: small requests that unpack to huge ones. Sizes in bytes; `atOnce` bombs are sent at once. */
export async function bombFigures(options: { readonly unpackedBytes: number; readonly atOnce: number }): Promise<readonly Figure[]> {
  const { unpackedBytes, atOnce } = options;
  const memoryGrowthMax = (atOnce + 1) * unpackedBytesMax;
  const plain = Buffer.alloc(unpackedBytes, ' ');
  const bombs: readonly (readonly [name: string, bytes: Buffer])[] = [
    ['gzip', gzipSync(plain, { level: 9 })],
    ['br', brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
    ['zstd', zstdCompressSync(plain)],
    ['gzip, gzip', gzipSync(gzipSync(plain, { level: 9 }))],
  ];
  await using weir = await startWeir();
  const url = `${weir.gatewayUrl}/v1/chat/completions`;
  const headers = { authorization: `Bearer ${weir.apiKey}`, 'content-type': 'application/json' };
  const others = await call(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  if (others.status !== 200) throw new Error(`a plain call failed: ${others.text}`);
  const figures: Figure[] = [];
  for (const [encoding, bytes] of bombs) {
    const before = residentBytes(weir.process.pid) ?? 0;
    let peak = before;
    let slowestMs = 0;
    let running = true;
    const watch = async (): Promise<void> => {
      while (running) {
        const startedMs = performance.now();
        await call(`${weir.gatewayUrl}/health/live`);
        slowestMs = Math.max(slowestMs, performance.now() - startedMs);
        peak = Math.max(peak, residentBytes(weir.process.pid) ?? 0);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const watching = watch();
    const send = async (): Promise<number> => {
      try {
        return (await call(url, { method: 'POST', headers: { ...headers, 'content-encoding': encoding }, body: bytes })).status;
      } catch {
        // A connection that is closed while the rest of a refused body arrives.
        return 0;
      }
    };
    const statuses = await Promise.all(Array.from({ length: atOnce }, send));
    running = false;
    await watching;
    const refused = statuses.filter((status) => status === 413 || status === 415 || status === 0).length;
    figures.push({
      row: 'R9',
      what: `${atOnce} requests at once of ${Math.ceil(bytes.length / 1024)} kB (${encoding}) that unpack to ${size(unpackedBytes)}`,
      measured: `${refused} refused (${[...new Set(statuses)].join(', ')}); memory +${size(peak - before)}; other calls ≤ ${duration(slowestMs)}`,
      gate: `all refused; ≤ ${size(memoryGrowthMax)}; ≤ ${duration(otherCallMsMax)}`,
      isMet: refused === atOnce && peak - before <= memoryGrowthMax && slowestMs <= otherCallMsMax,
    });
  }
  return figures;
}
