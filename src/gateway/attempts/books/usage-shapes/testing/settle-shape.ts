import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { CallEntry, CallOpening } from '../../../../../billing/ledger/call-entry.ts';
import { parsePriceBook } from '../../../../../billing/rating/parse-price-book.ts';
import { createPriceBook } from '../../../../../billing/rating/price-book.ts';
import type { DialectId } from '../../../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../../../dialects/registry.ts';
import type { Usage } from '../../../../../inference/usage.ts';
import type { StreamFraming } from '../../../../../platform/frames.ts';
import type { JsonObject, JsonValue } from '../../../../../platform/json/json-value.ts';
import { upstreamVendors } from '../../../../../upstreams/registry.ts';
import type { VendorId } from '../../../../../upstreams/upstream-vendor.ts';
import { createFakeExchange } from '../../../exchange/testing/fake-exchange.ts';
import { StreamReply } from '../../../exchange/stream-reply.ts';
import { WholeReply } from '../../../exchange/whole-reply.ts';
import { correctReport, settleCall } from '../../settle.ts';

/** One form in which a server reports usage, and the expected result. */
export type UsageShape = {
  readonly name: string;
  /** The vendor of the server. Absent: the one that the file is named after. */
  readonly vendor?: VendorId;
  /** The frames of a stream: JSON, or text that is not JSON, such as an end mark. */
  readonly frames?: readonly JsonValue[];
  /** A whole reply. */
  readonly reply?: JsonValue;
  /** Default `finished`. */
  readonly end?: CallEntry['end'];
  /** Default false. */
  readonly estimated?: boolean;
  readonly serviceTier?: string;
  readonly usage: Usage;
  /** Its cost by `../fixtures/price-book.json`, computed by hand. */
  readonly nanoUsd: string;
};

const fixtures = join(import.meta.dirname, '../fixtures');
const readFixture = (file: string): JsonObject => JSON.parse(readFileSync(join(fixtures, file), 'utf8')) as JsonObject;

/** Prices that are equal at every vendor, so that only counts differ. */
export const corpusPrices = createPriceBook({ book: parsePriceBook(readFixture('price-book.json')) });

/** The shapes of a file, each with its vendor. */
export function readShapes(file: string): readonly (UsageShape & { readonly vendor: VendorId })[] {
  const { vendor, shapes } = readFixture(file) as unknown as { readonly vendor: VendorId; readonly shapes: readonly UsageShape[] };
  return shapes.map((shape) => ({ vendor, ...shape }));
}

/** A call that always differs only in its usage. Its request has 400 characters, which are estimated as 100 tokens. */
export const corpusCall: Omit<CallOpening, 'dialect' | 'vendor' | 'stream'> = {
  callId: 'req_1',
  acceptedAtMs: Date.UTC(2026, 5, 1),
  userName: 'alice',
  keyId: 'key_1',
  keyName: 'ci',
  requestedModel: 'm',
  upstream: 'one',
  upstreamModel: 'm',
  inputCharacters: 400,
  priceVersion: corpusPrices.version,
};

/** Whether the events of a stream have names. */
const namesEvents: Readonly<Record<DialectId, boolean>> = {
  'anthropic-messages': true,
  'openai-responses': true,
  'openai-chat': false,
  'gemini-generate-content': false,
};

function encodeFrame(frame: JsonValue, dialect: DialectId): string {
  const data = typeof frame === 'string' ? frame : JSON.stringify(frame);
  const type = namesEvents[dialect] && typeof frame === 'object' && frame !== null && 'type' in frame ? frame.type : undefined;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${data}\n\n`;
}

/** The bytes of a shape as its server sends them. */
export function encodeShape({ frames, reply }: UsageShape, dialect: DialectId, framing: StreamFraming): Buffer {
  if (frames === undefined) return Buffer.from(JSON.stringify(reply));
  if (framing === 'sse') return Buffer.from(frames.map((frame) => encodeFrame(frame, dialect)).join(''));
  return Buffer.from(JSON.stringify(frames));
}

/** The form in which the bytes arrive. */
type Arrival = { readonly dialect: DialectId; readonly framing?: StreamFraming; readonly chunkBytes?: number };

/** Sends a shape through a call, from the upstream's bytes to the ledger row. */
export function settleShape(shape: UsageShape & { readonly vendor: VendorId }, arrival: Arrival): CallEntry {
  const { dialect, framing = 'sse' } = arrival;
  const isStream = shape.frames !== undefined;
  const body = encodeShape(shape, dialect, framing);
  const chunkBytes = arrival.chunkBytes ?? body.length;
  const fake = createFakeExchange({
    dialect: chatDialects[dialect],
    vendor: shape.vendor,
    framing: isStream ? framing : undefined,
    body: dialect === 'openai-chat' ? { stream_options: { include_usage: true } } : {},
  });
  const flow = { pause: () => {}, resume: () => {}, stop: () => {} };
  const reply = isStream ? new StreamReply(fake.context, flow, {}, framing) : new WholeReply(fake.context, flow, {}, true);
  for (let at = 0; at < body.length; at += chunkBytes) reply.data(Buffer.from(body.subarray(at, at + chunkBytes)));
  reply.end();
  const [outcome, ...others] = fake.outcomes;
  if (outcome === undefined || others.length > 0) throw new Error(`${shape.name}: the call was settled ${fake.outcomes.length} times`);
  const vendor = upstreamVendors[shape.vendor];
  const opening: CallOpening = { ...corpusCall, dialect, vendor: vendor.id, stream: isStream };
  const corrected = outcome.report === undefined ? outcome : { ...outcome, report: correctReport(outcome.report, vendor, dialect) };
  return settleCall(opening, corrected, { upstreamStatus: 200, durationMs: 1 }, { priceBook: corpusPrices, keepsReply: false });
}
