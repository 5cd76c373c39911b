import { isJsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { spent, unavailable } from './idempotency-errors.ts';
import type { IdempotencyStore, KeyHolder, KeyName } from './idempotency-store.ts';
import type { ReplyHead } from './reply-recorder.ts';
import type { ReplySeal } from './reply-seal.ts';

/** An answer of an earlier request with the same key. */
export type StoredReply = ReplyHead & {
  /** The id of its call. */
  readonly requestId: string;
  /** The body, piece by piece. Throws GatewayError if a piece cannot be read. */
  readonly body: () => AsyncGenerator<Buffer>;
};

type Parts = {
  readonly store: Pick<IdempotencyStore, 'readReplyChunk'>;
  readonly seal: Pick<ReplySeal, 'open'>;
  readonly holder: KeyName & Extract<KeyHolder, { state: 'kept' }>;
};

/** Opens a stored answer. @throws GatewayError `idempotency_spent` if it was sealed under another key */
export function openReply({ store, seal, holder }: Parts): StoredReply {
  const { requestId, chunks, head: sealed } = holder;
  const bytes = seal.open({ ...holder, part: 'head' }, sealed);
  const head = bytes === undefined ? undefined : readHead(bytes);
  if (head === undefined) throw spent(requestId);
  return {
    ...head,
    requestId,
    body: async function* body() {
      for (let part = 0; part < chunks; part += 1) {
        const chunk = await store.readReplyChunk(holder, part).catch((error: unknown) => {
          throw unavailable(error);
        });
        const opened = chunk === undefined ? undefined : seal.open({ ...holder, part }, chunk);
        if (opened === undefined) throw spent(requestId);
        yield opened;
      }
    },
  };
}

function readHead(bytes: Buffer): ReplyHead | undefined {
  const head = JSON.parse(bytes.toString('utf8')) as JsonValue;
  if (!isJsonObject(head)) return undefined;
  const { status, headers } = head;
  if (typeof status !== 'number' || headers === undefined || !isJsonObject(headers)) return undefined;
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') read[name] = value;
  return { status, headers: read };
}
