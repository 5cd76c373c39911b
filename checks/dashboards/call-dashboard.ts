import type { Dashboard, Panel, Row } from './dashboard.ts';

const here = 'job=~"$job",instance=~"$instance"';
const calls = `${here},upstream=~"$upstream",model=~"$model"`;
/** Labels of the metrics whose names come from OpenTelemetry's conventions. */
const timed = `${here},upstream=~"$upstream",gen_ai_request_model=~"$model"`;

const quantile = (share: number, metric: string, by: string): string =>
  `histogram_quantile(${share}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${metric}_bucket{${timed}}[$__rate_interval])))`;

/** A chart of two quantiles of a time, for each value of a label. */
function timePanel(title: string, about: string, metric: string, by: 'upstream' | 'gen_ai_request_model'): Panel {
  return {
    title,
    about,
    unit: 's',
    width: 12,
    queries: [
      { query: quantile(0.5, metric, by), legend: `{{${by}}} half` },
      { query: quantile(0.95, metric, by), legend: `{{${by}}} 95 %` },
    ],
  };
}

const summary: Row = {
  title: 'Now',
  panels: [
    {
      title: 'Calls',
      about: 'Calls that ended, each second.',
      unit: 'reqps',
      width: 4,
      kind: 'number',
      queries: [{ query: `sum(rate(weir_calls_total{${calls}}[$__rate_interval]))`, legend: 'calls' }],
    },
    {
      title: 'Streams under way',
      about: 'Streams that were sent to an upstream and are not over.',
      unit: 'short',
      width: 4,
      kind: 'number',
      queries: [{ query: `sum(weir_streams_in_flight{${here}})`, legend: 'streams' }],
    },
    {
      title: 'Failed or cut',
      about: 'Share of the calls in the books that delivered nothing, or not everything. Refused requests are below.',
      unit: 'percentunit',
      width: 4,
      kind: 'number',
      warnAt: [0.01, 0.05],
      queries: [
        {
          query: `sum(rate(weir_calls_total{${calls},end=~"failed|cut"}[$__rate_interval])) / sum(rate(weir_calls_total{${calls}}[$__rate_interval]))`,
          legend: 'share',
        },
      ],
    },
    {
      title: 'First token, 95 %',
      about: 'Time from accepting a streamed call to its first content, for 95 of 100 calls. Above 10 s it shows 10 s.',
      unit: 's',
      width: 4,
      kind: 'number',
      queries: [{ query: quantile(0.95, 'gen_ai_server_time_to_first_token_seconds', ''), legend: '95 %' }],
    },
    {
      title: 'Spend per hour',
      about: 'Cost of the calls in the books, at the pace of the last hour.',
      unit: 'currencyUSD',
      width: 4,
      kind: 'number',
      decimals: 2,
      queries: [{ query: `sum(rate(weir_cost_usd_total{${calls}}[1h])) * 3600`, legend: 'USD' }],
    },
    {
      title: 'Open alerts',
      about: 'Problems that Weir itself has found: `weir alerts list` and the console show them.',
      unit: 'short',
      width: 4,
      kind: 'number',
      warnAt: [1, 5],
      queries: [{ query: `sum(max by (rule) (weir_alerts_open{${here}}))`, legend: 'alerts' }],
    },
  ],
};

const traffic: Row = {
  title: 'Traffic',
  panels: [
    {
      title: 'Calls by model',
      about: 'Calls in the books each second. A name that the gateway does not list is "other".',
      unit: 'reqps',
      width: 12,
      kind: 'stack',
      queries: [{ query: `sum by (model) (rate(weir_calls_total{${calls}}[$__rate_interval]))`, legend: '{{model}}' }],
    },
    {
      title: 'Calls by upstream',
      about: 'Calls in the books each second, by the upstream that answered last.',
      unit: 'reqps',
      width: 12,
      kind: 'stack',
      queries: [{ query: `sum by (upstream) (rate(weir_calls_total{${calls}}[$__rate_interval]))`, legend: '{{upstream}}' }],
    },
    {
      title: 'Calls by interface',
      about: 'Which interface clients use, and how many of the calls were translated for their upstream.',
      unit: 'reqps',
      width: 12,
      queries: [
        { query: `sum by (dialect) (rate(weir_calls_total{${calls}}[$__rate_interval]))`, legend: '{{dialect}}' },
        { query: `sum(rate(weir_translated_calls_total{${here}}[$__rate_interval]))`, legend: 'translated' },
      ],
    },
    {
      title: 'Tokens by type',
      about: 'Tokens in the books each second. Reasoning is a part of output.',
      unit: 'cps',
      width: 12,
      queries: [{ query: `sum by (type) (rate(weir_tokens_total{${calls}}[$__rate_interval]))`, legend: '{{type}}' }],
    },
  ],
};

const times: Row = {
  title: 'Times',
  panels: [
    timePanel(
      'First token by model',
      'From accepting a streamed call to its first content.',
      'gen_ai_server_time_to_first_token_seconds',
      'gen_ai_request_model',
    ),
    timePanel(
      'First token by upstream',
      'From accepting a streamed call to its first content.',
      'gen_ai_server_time_to_first_token_seconds',
      'upstream',
    ),
    timePanel(
      'Whole calls by model',
      'From accepting a call to the end of its reply, with retries.',
      'gen_ai_server_request_duration_seconds',
      'gen_ai_request_model',
    ),
    timePanel(
      'The upstream alone',
      'From sending the last attempt to its end. The rest of a call is the gateway and earlier attempts.',
      'gen_ai_client_operation_duration_seconds',
      'upstream',
    ),
    timePanel(
      'Time per token',
      'Mean time per output token after the first.',
      'gen_ai_server_time_per_output_token_seconds',
      'gen_ai_request_model',
    ),
    timePanel(
      'Gaps within streams',
      'Time between two pieces of a stream, as they arrive from the upstream. Long gaps look like a hang to readers.',
      'gen_ai_client_operation_time_per_output_chunk_seconds',
      'upstream',
    ),
  ],
};

const errors: Row = {
  title: 'Errors',
  panels: [
    {
      title: 'Calls by end',
      about: 'finished; client-left; cut: interrupted after it began; failed: nothing was delivered.',
      unit: 'reqps',
      width: 12,
      queries: [{ query: `sum by (end, status) (rate(weir_calls_total{${calls}}[$__rate_interval]))`, legend: '{{end}} {{status}}' }],
    },
    {
      title: 'Errors of calls by code',
      about: 'Calls that were sent to an upstream and ended with an error. The page of errors says what each code means.',
      unit: 'reqps',
      width: 12,
      queries: [
        {
          query: `sum by (error_type) (rate(gen_ai_server_request_duration_seconds_count{${timed},error_type!=""}[$__rate_interval]))`,
          legend: '{{error_type}}',
        },
      ],
    },
    {
      title: 'Refused requests by code',
      about: 'Requests that never reached an upstream: wrong keys, limits, invalid requests, overload.',
      unit: 'reqps',
      width: 12,
      queries: [{ query: `sum by (code) (rate(weir_refusals_total{${here}}[$__rate_interval]))`, legend: '{{code}}' }],
    },
    {
      title: 'Retries by reason',
      about: 'Attempts that failed and were followed by another. Clients notice only the time.',
      unit: 'reqps',
      width: 12,
      queries: [
        {
          query: `sum by (upstream, reason) (rate(weir_retries_total{${here},upstream=~"$upstream"}[$__rate_interval]))`,
          legend: '{{upstream}} {{reason}}',
        },
      ],
    },
  ],
};

/** What clients experience. */
export const callDashboard: Dashboard = {
  uid: 'weir-calls',
  title: 'Weir: calls',
  about: 'What clients experience: traffic, times and errors by model and upstream.',
  rows: [summary, traffic, times, errors],
};
