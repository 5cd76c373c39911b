import { endWithCall } from '../../attempts/books/settle.ts';
import { withOwnLimits } from '../../attempts/exchange/pass-headers.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { AccessLimits, RateLimits } from '../../../accounts/access-limits.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ExchangeObserver } from '../../attempts/exchange/exchange-context.ts';
import { createFakeExchange } from '../../attempts/exchange/testing/fake-exchange.ts';
import { UpstreamExchange } from '../../attempts/exchange/upstream-exchange.ts';
import { createLimiter } from './limiter.ts';
import { countUsedTokens, reserveCall, type TakenLimits } from './reserve-call.ts';

const startMs = Date.UTC(2026, 10, 20, 9, 0, 0);

const caller = { id: 'k', userId: 'u', userName: 'alice', name: 'ci', hint: 'x', createdAtMs: 0, strictTranslation: false };

function setUp(dialectId: DialectId = 'openai-chat') {
  let elapsedMs = 0;
  const clock = { nowMs: () => startMs + elapsedMs, monotonicMs: () => elapsedMs };
  const limiter = createLimiter({ clock });
  type Wanted = {
    readonly limits?: AccessLimits;
    readonly userLimits?: AccessLimits;
    readonly teamLimits?: AccessLimits;
    readonly organizationLimits?: AccessLimits;
    readonly perKey?: RateLimits;
    readonly model?: RateLimits;
    readonly facts?: Partial<CallFacts>;
  };
  const reserve = ({ limits, userLimits, teamLimits, organizationLimits, perKey, model, facts }: Wanted): TakenLimits | undefined =>
    reserveCall({
      limiter,
      clock,
      voice: chatDialects[dialectId].voice,
      caller: {
        ...caller,
        ...(limits === undefined ? {} : { limits }),
        ...(userLimits === undefined ? {} : { userLimits }),
        ...(teamLimits === undefined ? {} : { team: { id: 't', name: 'research', limits: teamLimits } }),
        ...(organizationLimits === undefined ? {} : { organizationLimits }),
      },
      perKey,
      facts: { requestedModel: 'm', stream: false, inputCharacters: 400, needs: [], ...facts },
      model: model === undefined ? undefined : { name: 'm', limits: model },
    });
  const refusal = (wanted: Wanted): GatewayError => {
    try {
      reserve(wanted);
    } catch (error) {
      assert.ok(error instanceof GatewayError);
      return error;
    }
    return assert.fail('it was admitted');
  };
  return { reserve, refusal, limiter, advance: (ms: number) => void (elapsedMs += ms) };
}

test('without any rate nothing is reserved and nothing is remembered', () => {
  const { reserve, limiter } = setUp();
  assert.equal(reserve({}), undefined);
  assert.equal(reserve({ limits: { models: ['m'], expiresAtMs: 9 }, userLimits: { addresses: ['::/0'] } }), undefined);
  assert.equal(limiter.size(), 0);
});

test('the reservation is the input by its length and the output by its bound, or a default', () => {
  const remaining = (facts: Partial<CallFacts>): string | undefined =>
    setUp().reserve({ limits: { tokensPerMinute: 10_000 }, facts })?.headers['x-ratelimit-remaining-tokens'];
  assert.equal(remaining({ outputTokensMax: 50 }), '9850');
  assert.equal(remaining({}), String(10_000 - 100 - 1024));
});

test('a limit of the key overrides the default for all keys, separately for each kind', () => {
  const headers = setUp().reserve({ limits: { requestsPerMinute: 7 }, perKey: { requestsPerMinute: 2, tokensPerMinute: 5000 } })?.headers;
  assert.equal(headers?.['x-ratelimit-limit-requests'], '7');
  assert.equal(headers['x-ratelimit-limit-tokens'], '5000');
});

test('key, user and model each have their limit, and the message names its owner', () => {
  for (const [wanted, words] of [
    [
      { limits: { requestsPerMinute: 1 } },
      /^Rate limit reached for this API key: 1 requests per minute, used 1, requested 1\. Please try again in 60s\.$/,
    ],
    [{ perKey: { requestsPerMinute: 1 } }, /this API key/],
    [{ userLimits: { requestsPerMinute: 1 } }, /this user/],
    [
      { model: { concurrency: 1 } },
      /^Rate limit reached for this model: 1 requests at a time, used 1, requested 1\. Please try again in 1s\.$/,
    ],
  ] as const) {
    const { reserve, refusal } = setUp();
    assert.ok(reserve(wanted));
    const error = refusal(wanted);
    assert.deepEqual([error.code, error.status], ['rate_limited', 429]);
    assert.match(error.message, words);
  }
});

describe("each vendor's interface words a refusal", () => {
  const encode = (dialect: DialectId, limits: AccessLimits, elapsedMs = 0) => {
    const { reserve, refusal, advance } = setUp(dialect);
    const taken = reserve({ limits });
    advance(elapsedMs);
    const { status, headers, body } = chatDialects[dialect].voice.encodeError(refusal({ limits }), 'req_1');
    return { taken, status, headers, error: JSON.parse(body.toString()).error };
  };
  const rpm = { requestsPerMinute: 1 };
  const tpm = { tokensPerMinute: 1200 };

  test('Messages: the error is rate_limit_error, and resets are instants', () => {
    const { taken, status, headers, error } = encode('anthropic-messages', { ...rpm, ...tpm }, 1500);
    assert.deepEqual(taken?.headers, {
      'anthropic-ratelimit-requests-limit': '1',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-11-20T09:01:00Z',
      'anthropic-ratelimit-tokens-limit': '1200',
      'anthropic-ratelimit-tokens-remaining': '76',
      'anthropic-ratelimit-tokens-reset': '2026-11-20T09:01:00Z',
    });
    assert.deepEqual([status, error.type, headers['retry-after']], [429, 'rate_limit_error', '59']);
    assert.equal(headers['anthropic-ratelimit-requests-reset'], '2026-11-20T09:01:00Z');
    assert.equal(error.details, undefined);
  });

  for (const dialect of ['openai-chat', 'openai-responses'] as const) {
    test(`${dialect}: the error is rate_limit_exceeded of requests or of tokens, and resets are durations`, () => {
      const requests = encode(dialect, rpm, 1500);
      assert.deepEqual([requests.status, requests.error.type, requests.error.code], [429, 'requests', 'rate_limit_exceeded']);
      assert.deepEqual(requests.taken?.headers, {
        'x-ratelimit-limit-requests': '1',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1m0s',
      });
      assert.equal(requests.headers['x-ratelimit-reset-requests'], '58.5s');
      assert.equal(requests.headers['retry-after'], '59');
      const tokens = encode(dialect, tpm, 59_994);
      assert.deepEqual([tokens.error.type, tokens.error.code], ['tokens', 'rate_limit_exceeded']);
      assert.equal(tokens.headers['x-ratelimit-reset-tokens'], '6ms');
      assert.equal(tokens.headers['retry-after'], '1');
    });
  }

  test('generate-content: the error is RESOURCE_EXHAUSTED with the quota and the delay, without headers of limits', () => {
    const { taken, status, headers, error } = encode('gemini-generate-content', rpm, 20_000);
    assert.deepEqual([status, error.code, error.status], [429, 429, 'RESOURCE_EXHAUSTED']);
    assert.deepEqual(error.details, [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [
          {
            quotaMetric: 'generativelanguage.googleapis.com/generate_content_requests',
            quotaId: 'GenerateRequestsPerMinutePerApiKey',
            quotaValue: '1',
          },
        ],
      },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '40s' },
    ]);
    assert.deepEqual(taken?.headers, {});
    assert.deepEqual(Object.keys(headers).toSorted(), ['content-type', 'retry-after', 'x-request-id']);
  });

  test('a call larger than its limit should not be retried', () => {
    const { refusal } = setUp();
    const { status, headers } = chatDialects['openai-chat'].voice.encodeError(refusal({ limits: { tokensPerMinute: 500 } }), 'req_1');
    assert.equal(status, 429);
    assert.deepEqual([headers['retry-after'], headers['x-should-retry']], [undefined, 'false']);
  });
});

describe('every end of an exchange releases the slot, once', () => {
  type Ends = (start: ReturnType<typeof startExchange>) => void;
  function startExchange(settled: ExchangeObserver['settled'] = () => {}, framing?: 'sse') {
    const { reserve, refusal } = setUp();
    const wanted = { limits: { concurrency: 1 } };
    const taken = reserve(wanted);
    assert.ok(taken);
    const fake = createFakeExchange({ dialect: chatDialects['openai-chat'], framing });
    const observer = endWithCall(
      {
        ...fake.context.observer,
        settled: (outcome, then) => {
          fake.context.observer.settled(outcome, then);
          settled(outcome, then);
        },
      },
      { taken },
      fake.context.sink,
    );
    const exchange = new UpstreamExchange({ ...fake.context, relay: withOwnLimits(fake.context.relay, taken), observer });
    exchange.start({ path: '/x', method: 'POST', headers: {}, body: Buffer.alloc(0) });
    exchange.onRequestStart(fake.controller);
    refusal(wanted);
    return { ...fake, exchange, free: () => reserve(wanted) !== undefined, refusal: () => refusal(wanted) };
  }
  const json = { 'content-type': 'application/json', 'x-ratelimit-limit-requests': '9999', 'anthropic-ratelimit-tokens-limit': '7' };
  const head = ({ exchange, controller }: ReturnType<typeof startExchange>, status: number, headers: object = json): void =>
    exchange.onResponseStart(controller, status, headers as Record<string, string>);

  const ends: Readonly<Record<string, Ends>> = {
    'a whole reply': (started) => {
      head(started, 200);
      started.exchange.onResponseData(started.controller, Buffer.from('{"choices":[]}'));
      started.exchange.onResponseEnd();
    },
    "the upstream's error": (started) => {
      head(started, 500);
      started.exchange.onResponseData(started.controller, Buffer.from('{"error":{"message":"x"}}'));
      started.exchange.onResponseEnd();
    },
    'an upstream that cannot be reached': ({ exchange, controller }) => exchange.onResponseError(controller, new Error('refused')),
    'an upstream that says nothing': ({ exchange, advance, context }) => exchange.check(advance(context.timeouts.firstByteMs)),
    'a client that leaves before the reply': ({ response }) => response.close(),
    'a client that leaves during the reply': (started) => {
      head(started, 200);
      started.response.close();
    },
    'a body that is no reply': (started) => {
      head(started, 200);
      started.exchange.onResponseData(started.controller, Buffer.from('<html>'));
      started.exchange.onResponseEnd();
    },
    'a shutdown': ({ exchange }) => exchange.terminate(new GatewayError('shutting_down', 'x')),
  };
  for (const [name, end] of Object.entries(ends)) {
    test(name, () => {
      const started = startExchange();
      end(started);
      started.response.close();
      assert.equal(started.outcomes.length, 1);
      assert.ok(started.free());
      assert.equal(started.refusal().code, 'rate_limited');
    });
  }

  test('a stream that is cut, or whose client disconnects, releases it', () => {
    for (const end of ['cut', 'left'] as const) {
      const started = startExchange(() => {}, 'sse');
      head(started, 200, { 'content-type': 'text/event-stream' });
      started.exchange.onResponseData(started.controller, Buffer.from('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'));
      started.refusal();
      if (end === 'cut') started.exchange.onResponseEnd();
      else started.response.close();
      assert.ok(started.free(), end);
    }
  });

  test('books that fail release it', () => {
    const started = startExchange(() => {
      throw new Error('a bug');
    });
    assert.throws(() => started.exchange.terminate(new GatewayError('shutting_down', 'x')), /a bug/);
    assert.ok(started.free());
  });

  test("the upstream's own limits do not reach the client", () => {
    const started = startExchange();
    ends['a whole reply']?.(started);
    assert.equal(started.response.status, 200);
    assert.deepEqual(
      Object.keys(started.response.headers).filter((name) => name.includes('ratelimit')),
      [],
    );
  });
});

test('tokens are those of input, caches and output; unknown counts are zero', () => {
  assert.equal(countUsedTokens({ inputTokens: 1, cacheReadTokens: 2, cacheWrite5mTokens: 4, cacheWrite1hTokens: 8, outputTokens: 16 }), 31);
  assert.equal(countUsedTokens({}), 0);
});

test('all levels take part, and a refusal names the level that is used up, by how much, and until when', () => {
  const levels = { limits: { requestsPerMinute: 9 }, userLimits: { concurrency: 9 } };
  const worded: Readonly<Record<string, readonly [object, RegExp]>> = {
    team: [{ teamLimits: { requestsPerMinute: 1 } }, /for this team \(research\): 1 requests per minute, used 1, requested 1\. .* in 60s/],
    organization: [
      { organizationLimits: { tokensPerMinute: 1200 } },
      /for this organization: 1200 tokens per minute, used 1124, requested 1124\./,
    ],
  };
  for (const [scope, [limited, words]] of Object.entries(worded)) {
    const { reserve, refusal, advance } = setUp();
    const first = reserve({ ...levels, ...limited });
    const refused = refusal({ ...levels, ...limited });
    assert.match(refused.message, words);
    assert.equal(refused.exceededLimit?.scope, scope);
    assert.equal(refused.retryAfterSeconds, 60);
    first?.reservation.finish();
    advance(60_000);
    reserve({ ...levels, ...limited });
  }
});

test('users of a team share its limit, and other teams have their own', () => {
  const { reserve, refusal } = setUp();
  const running = reserve({ teamLimits: { concurrency: 1 }, organizationLimits: { concurrency: 2 } });
  assert.match(refusal({ teamLimits: { concurrency: 1 } }).message, /this team \(research\): 1 requests at a time, used 1, requested 1/);
  reserve({ organizationLimits: { concurrency: 2 } });
  assert.equal(refusal({ organizationLimits: { concurrency: 2 } }).exceededLimit?.used, 2);
  running?.reservation.settle(3);
  reserve({ teamLimits: { concurrency: 1 }, organizationLimits: { concurrency: 2 } });
});
