import { type Answer, AskError, type AskLimits, toAskError } from '../../../../platform/http/ask-upstream.ts';
import type { UpstreamClient, UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import { shortenStrings } from '../../../../platform/json/shorten-strings.ts';
import { streamUpstream } from './stream-upstream.ts';

/** More than any member of a status that is not a file, in bytes. */
const stringBytesMax = 8192;
const answerBytesMax = 1024 * 1024;
/** A finished video of 8 seconds in base64 may have 60 MB, and each piece of it proves that the upstream answers. */
const answerMsMax = 300_000;

/**
 * Asks for a status that may contain a file, of which only a beginning is kept.
 * @throws AskError when no whole answer came within the time, or the signal aborted
 */
export async function askWithoutFile(client: UpstreamClient, request: UpstreamRequest, limits: AskLimits): Promise<Answer> {
  try {
    return await ask(client, request, limits);
  } catch (error) {
    throw error instanceof Error ? toAskError(error) : error;
  }
}

async function ask(client: UpstreamClient, request: UpstreamRequest, { timeoutMs, signal }: AskLimits): Promise<Answer> {
  const startedMs = performance.now();
  const timeouts = { firstByteMs: timeoutMs, idleMs: timeoutMs };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]);
  const { status, headers, content } = await streamUpstream(client, request, { timeouts, signal: limited });
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of shortenStrings(content, stringBytesMax)) {
    length += piece.length;
    if (length > answerBytesMax) throw new AskError('TOO_LARGE', `the answer is longer than ${answerBytesMax} bytes`, undefined);
    pieces.push(piece);
  }
  return { status, headers, body: Buffer.concat(pieces), tookMs: performance.now() - startedMs };
}
