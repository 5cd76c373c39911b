import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { CallEntry } from '../../../billing/ledger/call-entry.ts';
import type { CallReport, CallStart } from '../call-report.ts';
import type { Telemetry } from '../telemetry.ts';

/** A client's reply for tests, with the members that reports read. */
class FakeReply extends EventEmitter {
  headersSent = false;
  statusCode = 200;
  destroyed = false;

  /** @param status undefined if the client disconnected before one was sent */
  close(status: number | undefined): void {
    this.headersSent = status !== undefined;
    this.statusCode = status ?? 200;
    this.destroyed = true;
    this.emit('close');
  }
}

export const fakeEntry: CallEntry = {
  callId: 'req_1',
  acceptedAtMs: 1_700_000_000_000,
  userName: 'alice',
  keyId: 'key_1',
  keyName: 'laptop',
  dialect: 'openai-chat',
  requestedModel: 'gpt-4.1',
  upstream: 'one',
  vendor: 'openai',
  upstreamModel: 'gpt-4.1-2025',
  stream: true,
  inputCharacters: 20,
  priceVersion: '1',
  end: 'finished',
  upstreamStatus: 200,
  servedModel: 'gpt-4.1-2025',
  stopReason: 'stop',
  usage: { inputTokens: 10, cacheReadTokens: 5, cacheWrite5mTokens: 2, outputTokens: 11, reasoningTokens: 3 },
  estimated: false,
  durationMs: 1500,
  firstByteMs: 500,
  charge: { amountNanoUsd: 1_230_000n, lines: [] },
};

export type FakeCall = { readonly report: CallReport; readonly reply: FakeReply };

/** Begins a call with these headers of its client. */
export function beginFakeCall(
  telemetry: Telemetry,
  headers: Readonly<Record<string, string>> = {},
  start: Partial<CallStart> = {},
): FakeCall {
  const reply = new FakeReply();
  const report = telemetry.begin({
    callId: 'req_1',
    dialect: 'openai-chat',
    operation: 'generate',
    request: { headers, url: '/v1/chat/completions', socket: { remoteAddress: '192.0.2.7' } } as unknown as IncomingMessage,
    response: reply as unknown as ServerResponse,
    ...start,
  });
  return { report, reply };
}

/** Runs a call completely, to the end that its entry describes. */
export function tellFakeCall(telemetry: Telemetry, entry: CallEntry, status: number | undefined = 200): void {
  const { report, reply } = beginFakeCall(telemetry);
  report.caller = { id: entry.keyId, userName: entry.userName, name: entry.keyName };
  report.facts = entry;
  report.exchanging();
  telemetry.attempt(report, { path: '/', method: 'POST', headers: {}, body: undefined });
  report.settled(entry, undefined);
  reply.close(status);
}
