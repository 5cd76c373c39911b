import type { CallEntry } from '../../../src/billing/ledger/call-entry.ts';
import { createIds } from '../../../src/platform/ids.ts';

/** A key that a state has made. */
export type OddKey = { readonly user: string; readonly name: string; readonly id: string };

/** Names as people have them: of one letter, as long as they may be, from right to left, and like code. */
export const oddUsers = [
  'a',
  'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbe',
  'Maria da Conceição Aparecida dos Santos Ferreira de Albuquerque',
  'فاطمة الزهراء بنت عبد الرحمن',
  'שרה לוי-כהן',
  '北京海淀区人工智能研究院推理平台组',
  '0.1e5',
  'null',
  'ci@example.com',
  'support-2',
  'Ольга Васильевна',
  'z+tag',
] as const;

const words = 'very-long-model-name-that-somebody-has-composed-of-all-the-words-there-are-';
/** Models may have names of any length, and slashes. */
export const oddModels = [
  `vendor/${words.repeat(3)}`.slice(0, 200),
  'claude-sonnet-4-5',
  'نموذج-اللغة-العربية',
  'm',
  'gpt-5-mini',
] as const;

/** An amount of eighteen digits: $123 456 789.987654321. */
const largeNanoUsd = 123_456_789_987_654_321n;

const dayMs = 86_400_000;
const ends = ['finished', 'finished', 'finished', 'failed', 'cut', 'client-left'] as const;

/**
 * Calls of a month until now, newest first. The first one costs an amount of eighteen digits, others less.
 * @param count number of calls
 */
export function oddCalls(keys: readonly OddKey[], nowMs: number, count: number): readonly CallEntry[] {
  const newId = createIds({ nowMs: () => nowMs, monotonicMs: () => 0 });
  return Array.from({ length: count }, (_, index): CallEntry => {
    const key = keys[index % keys.length] ?? { user: 'a', name: 'a', id: 'key_odd' };
    const model = oddModels[index % oddModels.length] ?? 'm';
    const end = ends[index % ends.length] ?? 'finished';
    const isFailed = end === 'failed';
    const output = isFailed ? 0 : (index * 7919) % 90_000;
    return {
      callId: newId('req'),
      acceptedAtMs: Math.round(nowMs - 20_000 - (index * 28 * dayMs) / Math.max(24, count)),
      userName: key.user,
      keyId: key.id,
      keyName: key.name,
      dialect: 'openai-chat',
      requestedModel: model,
      upstream: index % 3 === 0 ? 'simulated-anthropic' : 'simulated-openai',
      vendor: 'openai',
      upstreamModel: model,
      stream: index % 2 === 0,
      inputCharacters: 4,
      priceVersion: 'odd',
      end,
      ...(isFailed
        ? { errorCode: 'upstream_overloaded', upstreamStatus: 529 }
        : { upstreamStatus: 200, servedModel: model, firstByteMs: 312 }),
      usage: { inputTokens: 1_234_567, outputTokens: output },
      estimated: end === 'cut',
      durationMs: index % 11 === 0 ? 3_600_000 * 5 : 4310,
      charge: { amountNanoUsd: isFailed ? 0n : index === 0 ? largeNanoUsd : 10n ** BigInt(index % 12), lines: [] },
    };
  });
}
