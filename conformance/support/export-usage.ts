import { type Truth, plannedUsage } from './audit.ts';

/**
 * The exports of the simulated vendors' consoles about the calls that they answered: the same sums in each vendor's own
 * format.
 */

/** An answered call as the vendor bills it. */
export type BilledTruth = Pick<Truth, 'model' | 'receivedAtMs' | 'plannedUsage'>;

/** The calls that a vendor answered to the end. */
export function billedCalls(truths: readonly Truth[], vendor: string): readonly Truth[] {
  return truths.filter((truth) => truth.vendor === vendor && truth.ending === 'completed' && truth.plannedUsage !== undefined);
}

const dayMs = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

type Group = { readonly model: string; readonly day: string; readonly calls: number; readonly usage: Required<ReturnType<typeof sumOf>> };

function sumOf(truths: readonly BilledTruth[]) {
  const usages = truths.map(plannedUsage);
  const sum = (name: keyof (typeof usages)[number]): number => usages.reduce((total, usage) => total + (usage[name] ?? 0), 0);
  return {
    input: sum('inputTokens'),
    cached: sum('cacheReadTokens'),
    written5m: sum('cacheWrite5mTokens'),
    written1h: sum('cacheWrite1hTokens'),
    output: sum('outputTokens'),
  };
}

function groupsOf(truths: readonly BilledTruth[], dayIn: (ms: number) => string): Group[] {
  const groups = Map.groupBy(truths, ({ model = '', receivedAtMs }) => `${dayIn(receivedAtMs)}\n${model}`);
  return [...groups].map(([key, calls]) => {
    const [day = '', model = ''] = key.split('\n');
    return { model, day, calls: calls.length, usage: sumOf(calls) };
  });
}

/** As `GET /v1/organization/usage/completions?group_by=model` answers. */
export function exportOpenAi(truths: readonly BilledTruth[]): string {
  const data = [...Map.groupBy(groupsOf(truths, dayOf), ({ day }) => day)].map(([day, groups]) => ({
    object: 'bucket',
    start_time: Date.parse(day) / 1000,
    end_time: (Date.parse(day) + dayMs) / 1000,
    results: groups.map(({ model, calls, usage: { input, cached, written5m, output } }) => ({
      object: 'organization.usage.completions.result',
      input_tokens: input + cached + written5m,
      input_cached_tokens: cached,
      input_cache_write_tokens: written5m,
      output_tokens: output,
      num_model_requests: calls,
      model,
    })),
  }));
  return JSON.stringify({ object: 'page', data, has_more: false, next_page: null });
}

/** As `GET /v1/organizations/usage_report/messages?group_by[]=model` answers. */
export function exportAnthropic(truths: readonly BilledTruth[]): string {
  const data = [...Map.groupBy(groupsOf(truths, dayOf), ({ day }) => day)].map(([day, groups]) => ({
    starting_at: `${day}T00:00:00Z`,
    ending_at: new Date(Date.parse(day) + dayMs).toISOString(),
    results: groups.map(({ model, usage: { input, cached, written5m, written1h, output } }) => ({
      uncached_input_tokens: input,
      cache_creation: { ephemeral_5m_input_tokens: written5m, ephemeral_1h_input_tokens: written1h },
      cache_read_input_tokens: cached,
      output_tokens: output,
      server_tool_use: { web_search_requests: 0 },
      model,
    })),
  }));
  return JSON.stringify({ data, has_more: false, next_page: null });
}

const californianDay = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Los_Angeles', dateStyle: 'short' });

/** Like a downloaded cost table of Cloud Billing, with a row for each SKU and day of California. */
export function exportGoogle(truths: readonly BilledTruth[]): string {
  const rows = groupsOf(truths, (ms) => californianDay.format(ms)).flatMap(({ model, day, usage }) => {
    const row = (what: string, amount: number): string =>
      `weir,"Generate content ${what} token count ${model.replaceAll('-', ' ')} short",0000-AAAA,${day},${amount},count,0`;
    return [row('input', usage.input), row('cached content input', usage.cached), row('output', usage.output)];
  });
  return ['Project name,SKU description,SKU ID,Usage start date,Usage amount,Usage unit,Cost ($)', ...rows, ''].join('\r\n');
}
