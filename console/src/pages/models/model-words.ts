import type { Reply } from '../../api/client.ts';
import { showUsd } from '../../format/money.ts';
import type { StateTone } from '../../ui/state.tsx';
import { countOf } from '../../format/numbers.ts';

export type Model = Reply<'models.list'>['items'][number];
export type Explanation = Reply<'models.explain'>;
type Way = Model['interfaces'][number]['way'];

/** The interfaces of chats, as people name them. */
export const interfaceTitles: Readonly<Record<string, string>> = {
  'openai-chat': 'Chat completions',
  'openai-responses': 'Responses',
  'anthropic-messages': 'Messages',
  'gemini-generate-content': 'Generate content',
  embeddings: 'Embeddings',
  rerank: 'Rankings',
  moderation: 'Moderation',
  speech: 'Speech',
  transcription: 'Transcription',
  image: 'Images',
  video: 'Videos',
};

export const ways: Readonly<Record<Way, { readonly sign: string; readonly word: string }>> = {
  passes: { sign: '●', word: 'passes unchanged' },
  partly: { sign: '◐', word: 'passes at some targets, translated at others' },
  translated: { sign: '○', word: 'translated' },
};

/** The state of a target in an explanation. */
export const targetStates: Readonly<Record<string, { readonly sign: string; readonly word: string; readonly tone: StateTone }>> = {
  healthy: { sign: '●', word: 'healthy', tone: 'good' },
  suspect: { sign: '◐', word: 'suspect', tone: 'warning' },
  probe: { sign: '◐', word: 'this call probes it', tone: 'warning' },
  'rate-limited': { sign: '▲', word: 'rate-limited', tone: 'warning' },
  failing: { sign: '✗', word: 'failing', tone: 'bad' },
  rejected: { sign: '✗', word: 'refuses the credential', tone: 'bad' },
};

/** A part of all, such as `25 %`. A small part is not nothing. */
export function showPart(share: number): string {
  const percent = Math.round(share * 100);
  return percent === 0 && share > 0 ? 'under 1 %' : `${percent} %`;
}

/** The tiers of a model, first to last. */
export function tiersOf({ targets }: Pick<Model, 'targets'>): readonly (readonly Model['targets'][number][])[] {
  const tiers = new Map<number, Model['targets'][number][]>();
  for (const target of targets) tiers.set(target.tier, [...(tiers.get(target.tier) ?? []), target]);
  return [...tiers].sort(([one], [other]) => one - other).map(([, tier]) => tier);
}

/** Limits in one line: `60 a minute · 2 at a time`. */
export function showLimits(limits: Model['limits']): string {
  if (limits === null) return 'none';
  const { requests_per_minute: requests, tokens_per_minute: tokens, concurrency } = limits;
  const parts = [
    ...(requests === null ? [] : [`${countOf(requests, 'request')} a minute`]),
    ...(tokens === null ? [] : [`${countOf(tokens, 'token')} a minute`]),
    ...(concurrency === null ? [] : [`${concurrency} at a time`]),
  ];
  return parts.length === 0 ? 'none' : parts.join(' · ');
}

const shownMeters: Readonly<Record<string, string>> = { input: 'in', output: 'out', cache_read: 'cached' };

/** The list prices of a target: `$3 in · $15 out`, for a million tokens. */
export function showPrices(prices: Model['targets'][number]['prices']): string {
  return prices
    .filter(({ meter, per }) => shownMeters[meter] !== undefined && per === 1_000_000)
    .map(({ meter, unit_price_usd: price }) => `${showUsd(price)} ${shownMeters[meter] ?? meter}`)
    .join(' · ');
}
