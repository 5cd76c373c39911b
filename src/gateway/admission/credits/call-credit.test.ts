import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { CreditDesk, CreditRefusal } from '../../../billing/credits/credit-desk.ts';
import { encodeAudioError } from '../../../dialects/openai-audio/audio-errors.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { encodeVideoError } from '../../../dialects/video-tasks/encode-video-error.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { systemClock } from '../../../platform/clock.ts';
import { describeCreditRefusal, takeCredit } from './call-credit.ts';
import { FakeDesk } from './testing/fake-desk.ts';

const unlimited = { id: 'k', userName: 'ann', limits: { requestsPerMinute: 5 } };
const limited = { id: 'k', userName: 'ann', limits: { spendPerDay: '1' } };
const take = (desk: CreditDesk | undefined, caller: typeof unlimited | typeof limited, bound: () => bigint) =>
  takeCredit({ credits: desk, clock: systemClock }, caller, 0, bound);

describe('a call has a hold', () => {
  test('an unlimited caller has none: nothing is computed or requested', () => {
    const asked = (): never => assert.fail('it was asked');
    assert.equal(take({ hold: asked }, unlimited, asked), undefined);
    assert.equal(take(undefined, limited, asked), undefined);
  });

  for (const limits of [{ spendPerDay: '1' }, { spendPerMonth: '1' }, { spendTotal: '0' }])
    test(`a limit of key or user needs one: ${JSON.stringify(limits)}`, () => {
      for (const caller of [
        { id: 'k', userName: 'a', limits },
        { id: 'k', userName: 'a', userLimits: limits },
      ])
        assert.ok(takeCredit({ credits: new FakeDesk(5n), clock: systemClock }, caller, 0, () => 1n));
    });

  test('prepaid users are limited by their balance', () => {
    const caller = { id: 'k', userName: 'a', userLimits: { prepaid: true } } as const;
    assert.throws(() => takeCredit({ credits: new FakeDesk(5n), clock: systemClock }, caller, 0, () => 6n), {
      code: 'insufficient_credit',
    });
  });

  test('the time of a hold is that of the rows, which decides day and month', () => {
    const times: number[] = [];
    const hold: CreditDesk['hold'] = (_payer, _amount, nowMs) => void times.push(nowMs);
    assert.equal(
      takeCredit({ credits: { hold }, clock: systemClock }, limited, 77, () => 1n),
      undefined,
    );
    assert.deepEqual(times, [77]);
  });

  test('further cost is covered beside the charged rows, and is not requested twice', async () => {
    const desk = new FakeDesk(100n);
    const credit = await take(desk, limited, () => 30n);
    assert.ok(credit);
    assert.equal(credit.cover(30n), undefined);
    assert.equal(desk.heldNanoUsd, 30n);
    credit.charge({ charge: { amountNanoUsd: 10n, lines: [] } });
    assert.equal(credit.cover(30n), undefined);
    assert.equal(desk.heldNanoUsd, 40n);
    assert.ok((await credit.cover(100n)) instanceof GatewayError);
    credit.end();
    credit.end();
    assert.deepEqual([desk.open, desk.availableNanoUsd, desk.chargedNanoUsd], [0, 90n, 10n]);
  });
});

const day: CreditRefusal = {
  admitted: false,
  reason: 'spend-limit',
  scope: 'key',
  period: 'day',
  limitNanoUsd: 1_500_000_000n,
  availableNanoUsd: 500_000_000n,
  resetsAtMs: 90_500,
};
const total: CreditRefusal = {
  admitted: false,
  reason: 'spend-limit',
  scope: 'user',
  period: 'total',
  limitNanoUsd: 10n,
  availableNanoUsd: 0n,
};
const balance: CreditRefusal = { admitted: false, reason: 'balance', scope: 'user', availableNanoUsd: -5n };
const refusals: readonly (readonly [string, CreditRefusal])[] = [
  ['day', day],
  ['total', total],
  ['balance', balance],
  ['unavailable', { admitted: false, reason: 'unavailable' }],
];

/** Status, type and machine code of each refusal, by interface. */
const shapes: Record<string, Readonly<Record<string, string>>> = {
  day: {
    'anthropic-messages': '429 rate_limit_error spend_limit_reached',
    'openai-responses': '429 insufficient_quota insufficient_quota',
    'openai-chat': '429 insufficient_quota insufficient_quota',
    'gemini-generate-content': '429 RESOURCE_EXHAUSTED 429',
    audio: '429 insufficient_quota insufficient_quota',
    video: '429 insufficient_quota insufficient_quota',
  },
  balance: {
    'anthropic-messages': '402 billing_error insufficient_credit',
    'openai-responses': '402 insufficient_quota insufficient_quota',
    'openai-chat': '402 insufficient_quota insufficient_quota',
    'gemini-generate-content': '403 PERMISSION_DENIED 403',
    audio: '402 insufficient_quota insufficient_quota',
    video: '402 insufficient_quota insufficient_quota',
  },
  unavailable: {
    'anthropic-messages': '503 overloaded_error credits_unavailable',
    'openai-responses': '503 server_error credits_unavailable',
    'openai-chat': '503 server_error credits_unavailable',
    'gemini-generate-content': '503 UNAVAILABLE 503',
    audio: '503 server_error credits_unavailable',
    video: '503 server_error credits_unavailable',
  },
};
shapes['total'] = shapes['day'] ?? {};

const encoders = {
  ...Object.fromEntries(Object.values(chatDialects).map(({ id, voice }) => [id, (error: GatewayError) => voice.encodeError(error, 'req')])),
  audio: (error: GatewayError) => encodeAudioError(error, 'req'),
  video: (error: GatewayError) => encodeVideoError(error, 'req'),
};

describe('each interface words a refusal', () => {
  for (const [name, refusal] of refusals)
    for (const [of, encode] of Object.entries(encoders))
      test(`${name}, ${of}`, () => {
        const error = describeCreditRefusal(refusal, 2_000_000_000n, 30_000);
        const reply = encode(error);
        const { error: told } = JSON.parse(reply.body.toString()) as { error: Record<string, unknown> };
        assert.equal(`${reply.status} ${String(told['type'] ?? told['status'])} ${String(told['code'])}`, shapes[name]?.[of]);
        assert.match(String(told['message']), name === 'unavailable' ? /try again/ : /\$/);
        assert.equal(reply.headers['retry-after'], name === 'day' ? '61' : name === 'unavailable' ? '5' : undefined);
        assert.equal(reply.headers['x-should-retry'], name === 'unavailable' ? undefined : 'false');
      });

  test('the level that is used up, what is left of it, and when its period ends are named', () => {
    const team = { id: 't', name: 'research' };
    const month: CreditRefusal = { ...day, scope: 'team', period: 'month', resetsAtMs: Date.UTC(2026, 11, 1) };
    const ofTeam = describeCreditRefusal(month, 2_000_000_000n, Date.UTC(2026, 10, 30), team);
    assert.equal(
      ofTeam.message,
      'Spend limit reached for this team (research): $1.5 a month, $0.5 left. This request may cost up to $2. The limit is free again at 2026-12-01T00:00:00.000Z. Shorten the input, ask for less output, or have the limit raised.',
    );
    assert.equal(ofTeam.retryAfterSeconds, 86_400);
    const body = chatDialects['gemini-generate-content'].voice.encodeError(ofTeam, 'req').body.toString();
    assert.match(body, /"quotaId":"SpendPerMonthPerTeam","quotaValue":"1.5"/);
    const ofAll = describeCreditRefusal({ ...balance, scope: 'organization', availableNanoUsd: 5n }, 2_000_000_000n, 0);
    assert.match(
      ofAll.message,
      /^Insufficient credit for this organization: this request may cost up to \$2 and \$0\.000000005 is available\./,
    );
  });

  test('a negative balance is shown as zero, and a quota failure names period and amount', () => {
    assert.match(describeCreditRefusal(balance, 1n, 0).message, /\$0 is available/);
    const body = chatDialects['gemini-generate-content'].voice.encodeError(describeCreditRefusal(day, 1n, 0), 'req').body.toString();
    assert.match(body, /"quotaId":"SpendPerDayPerApiKey","quotaValue":"1.5"/);
  });
});
