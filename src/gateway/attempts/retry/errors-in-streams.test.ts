import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { DialectId } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { Frame } from '../../../platform/frames.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { createFakeUpstream } from '../exchange/testing/fake-exchange.ts';
import { describeErrorInReply } from '../exchange/upstream-failure.ts';
import { decideRetry, type RetryDecision } from './retry-policy.ts';

const target = {
  upstream: createFakeUpstream({}, { send: () => {}, close: () => Promise.resolve() }),
  upstreamModel: 'm',
};

const frame = (value: object, event?: string): Frame => {
  const data = JSON.stringify(value);
  return new Frame(Buffer.from(`data: ${data}\n\n`), event, data);
};

/** An error event in the stream of each dialect. */
const said: Readonly<Record<DialectId, (error: object) => Frame>> = {
  'anthropic-messages': (error) => frame({ type: 'error', error }, 'error'),
  'openai-chat': (error) => frame({ error }),
  'openai-responses': (error) => frame({ type: 'response.failed', response: { status: 'failed', error } }, 'response.failed'),
  'gemini-generate-content': (error) => frame({ error }),
};

/** An error event, and the status line with the same meaning. */
const table: readonly (readonly [error: object, status: number])[] = [
  [{ type: 'invalid_request_error', message: 'no' }, 400],
  [{ type: 'invalid_request_error', code: 'tool_use_failed', message: 'no' }, 400],
  [{ type: 'tool_use_failed', message: 'no' }, 400],
  [{ code: 'content_filter', message: 'no' }, 400],
  [{ code: 'context_length_exceeded', type: 'invalid_request_error', message: 'no' }, 400],
  [{ status: 'INVALID_ARGUMENT', message: 'no' }, 400],
  [{ type: 'authentication_error', message: 'no' }, 401],
  [{ type: 'permission_error', message: 'no' }, 403],
  [{ type: 'not_found_error', message: 'no' }, 404],
  [{ code: 'rate_limit_exceeded', type: 'tokens', message: 'no' }, 429],
  [{ type: 'rate_limit_error', message: 'no' }, 429],
  [{ status: 'RESOURCE_EXHAUSTED', message: 'no' }, 429],
  [{ type: 'api_error', message: 'no' }, 500],
  [{ code: 'server_error', message: 'no' }, 500],
  [{ type: 'overloaded_error', message: 'no' }, 529],
  [{ status: 'UNAVAILABLE', message: 'no' }, 503],
  [{ type: 'api_error', status_code: 400, message: 'no' }, 400],
  [{ type: 'invalid_request_error', code: 503, message: 'no' }, 503],
  [{ type: 'x', code: '429', message: 'no' }, 429],
];

/** Whether it is retried, and its verdict for health. */
const summary = ({ retry, verdict }: RetryDecision): object => ({ retry, verdict: verdict.type });

describe('A3: an error inside a stream decides about retries and health as a status line does', () => {
  for (const dialect of Object.values(chatDialects)) {
    for (const [error, status] of table) {
      test(`${dialect.id}: ${JSON.stringify(error)} is a ${status}`, () => {
        const tap = dialect.createStreamTap({ framing: 'sse', request: {} });
        tap.read(said[dialect.id](error));
        assert.equal(tap.state(), 'failed');
        const known = { attempt: 1, isDelivered: false, hasClientLeft: false };
        const inStream = decideRetry({ ...known, error: describeErrorInReply(tap.report().error, target) }, () => 0);
        const asStatus = decideRetry(
          { ...known, error: new GatewayError('upstream_error', '', { status }), upstreamStatus: status },
          () => 0,
        );
        assert.deepEqual(summary(inStream), summary(asStatus));
      });
    }

    test(`${dialect.id}: clients read the same status of an overloaded upstream, whatever its words`, () => {
      for (const error of [
        { type: 'overloaded_error', message: 'no' },
        { status: 'UNAVAILABLE', message: 'no' },
        { code: 529, message: 'no' },
      ]) {
        const tap = dialect.createStreamTap({ framing: 'sse', request: {} });
        tap.read(said[dialect.id](error));
        const { code, status } = describeErrorInReply(tap.report().error, target);
        assert.deepEqual([code, status], ['upstream_overloaded', 503], JSON.stringify(error));
      }
    });

    test(`${dialect.id}: an account without credit is the operator's problem, not a temporary rate limit`, () => {
      const tap = dialect.createStreamTap({ framing: 'sse', request: {} });
      tap.read(
        said[dialect.id]({
          code: 'insufficient_quota',
          type: 'insufficient_quota',
          message: 'You exceeded your current quota of org-secret1',
        }),
      );
      const error = describeErrorInReply(tap.report().error, target);
      assert.equal(error.code, 'upstream_quota_exhausted');
      assert.doesNotMatch(error.message, /org-secret1/);
    });
  }
});
