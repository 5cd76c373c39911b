import type { Dashboard, Row } from './dashboard.ts';

const here = 'job=~"$job",instance=~"$instance"';
const calls = `${here},upstream=~"$upstream",model=~"$model"`;
const perHour = (by: string): string => `sum by (${by}) (rate(weir_cost_usd_total{${calls}}[1h])) * 3600`;

const spend: Row = {
  title: 'Spend',
  panels: [
    {
      title: 'US dollars per hour by model',
      about: 'Cost of the calls in the books, at the pace of the last hour. The ledger is exact; this is its course.',
      unit: 'currencyUSD',
      width: 12,
      kind: 'stack',
      queries: [{ query: perHour('model'), legend: '{{model}}' }],
    },
    {
      title: 'US dollars per hour by upstream',
      about: 'The same by the account that a vendor charges.',
      unit: 'currencyUSD',
      width: 12,
      kind: 'stack',
      queries: [{ query: perHour('upstream'), legend: '{{upstream}}' }],
    },
    {
      title: 'Spend of the chosen time by model',
      about: 'Increase of the cost over the time of this page. Calls that a dead process left behind are only in the ledger.',
      unit: 'currencyUSD',
      width: 12,
      kind: 'bars',
      queries: [{ query: `topk(15, sum by (model) (increase(weir_cost_usd_total{${calls}}[$__range])))`, legend: '{{model}}' }],
    },
    {
      title: 'US dollars per thousand calls',
      about: 'Mean cost of a call. It rises if prompts grow, or if a dearer model answers.',
      unit: 'currencyUSD',
      width: 12,
      queries: [
        {
          query: `1000 * sum by (model) (rate(weir_cost_usd_total{${calls}}[1h])) / sum by (model) (rate(weir_calls_total{${calls}}[1h]))`,
          legend: '{{model}}',
        },
      ],
    },
  ],
};

const tokens: Row = {
  title: 'Tokens',
  panels: [
    {
      title: 'Input tokens that caches served',
      about: 'Share of the input that vendors charge at the lower price of a cache.',
      unit: 'percentunit',
      width: 12,
      queries: [
        {
          query: `sum by (model) (rate(weir_tokens_total{${calls},type="cache_read"}[1h])) / sum by (model) (rate(weir_tokens_total{${calls},type=~"input|cache_read|cache_write.*"}[1h]))`,
          legend: '{{model}}',
        },
      ],
    },
    {
      title: 'Tokens of a call, 95 %',
      about: 'Input and output tokens that 95 of 100 calls do not exceed.',
      unit: 'short',
      width: 12,
      queries: [
        {
          query: `histogram_quantile(0.95, sum by (le, gen_ai_token_type) (rate(gen_ai_client_token_usage_bucket{${here},upstream=~"$upstream",gen_ai_request_model=~"$model"}[$__rate_interval])))`,
          legend: '{{gen_ai_token_type}}',
        },
      ],
    },
  ],
};

const books: Row = {
  title: 'Books and limits',
  panels: [
    {
      title: 'Refused by a limit',
      about: 'Requests over a limit, by its owner (key, user, model, …) and its kind (requests, tokens, spend, …).',
      unit: 'reqps',
      width: 12,
      queries: [
        {
          query: `sum by (scope, of) (rate(weir_limit_refusals_total{${here}}[$__rate_interval]))`,
          legend: '{{scope}}: {{of}}',
        },
      ],
    },
    {
      title: 'Calls whose books need a look',
      about:
        'unpriced: charged 0, see `weir usage --unpriced`; disputed: an impossible figure, see `weir usage --disputed`; estimated: no count came.',
      unit: 'short',
      width: 12,
      queries: [
        { query: `sum by (model) (increase(weir_unpriced_calls_total{${calls}}[1h]))`, legend: 'unpriced {{model}}' },
        { query: `sum by (model) (increase(weir_disputed_calls_total{${calls}}[1h]))`, legend: 'disputed {{model}}' },
        { query: `sum by (model) (increase(weir_estimated_calls_total{${calls}}[1h]))`, legend: 'estimated {{model}}' },
      ],
    },
    {
      title: 'Calls that are not in the ledger yet',
      about: 'They are safe in the journal. A rising line means that the database is away or too slow.',
      unit: 'short',
      width: 12,
      queries: [{ query: `weir_journal_pending_entries{${here}}`, legend: '{{instance}}' }],
    },
    {
      title: 'Open alerts by rule',
      about: 'What Weir has found itself. All gateways of a database have the same.',
      unit: 'short',
      width: 12,
      queries: [{ query: `max by (rule) (weir_alerts_open{${here}})`, legend: '{{rule}}' }],
    },
  ],
};

/** What calls cost, and what limits refuse. */
export const spendDashboard: Dashboard = {
  uid: 'weir-spend',
  title: 'Weir: spend',
  about: 'What calls cost, what limits refuse, and which books need a look.',
  rows: [spend, tokens, books],
};
