import { stringify } from 'yaml';

import type { MetricDescription } from '../../src/platform/metrics/metrics-snapshot.ts';
import { checkQuery } from './read-query.ts';

/** A rule of Prometheus. `critical` is worth waking somebody, `warning` is for the next working hour. */
type AlertRule = {
  readonly alert: string;
  readonly query: string;
  /** How long it must be so before it is an alert. */
  readonly holds: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** One sentence, in which Prometheus replaces `{{ $labels.upstream }}` and `{{ $value }}`. */
  readonly summary: string;
  /** What to do. */
  readonly remedy: string;
  /** Page of the documents. */
  readonly page: string;
};

const group = (name: string, ...rules: readonly AlertRule[]) => ({ name, rules });

const callRules = group(
  'weir-calls',
  {
    alert: 'WeirDown',
    query: 'up{job="weir"} == 0',
    holds: '2m',
    severity: 'critical',
    summary: 'The gateway {{ $labels.instance }} does not answer.',
    remedy: 'Read its log. If its process runs, see whether its metrics port is reachable.',
    page: 'docs/guide/run.md',
  },
  {
    alert: 'WeirRestartsOften',
    query: 'changes(process_start_time_seconds{job="weir"}[30m]) > 2',
    holds: '0m',
    severity: 'warning',
    summary: 'The gateway {{ $labels.instance }} was started {{ $value }} times in half an hour.',
    remedy: 'Read the end of its log before each start: an error, the watchdog, or the memory limit of its container.',
    page: 'docs/guide/run.md',
  },
  {
    alert: 'WeirCallsFail',
    query:
      'sum(rate(weir_calls_total{job="weir",end=~"failed|cut"}[5m])) / sum(rate(weir_calls_total{job="weir"}[5m])) > 0.05 and sum(rate(weir_calls_total{job="weir"}[5m])) > 0.1',
    holds: '5m',
    severity: 'critical',
    summary: '{{ $value | humanizePercentage }} of the calls fail or are interrupted.',
    remedy: 'See by upstream and code which ones, on the dashboard of calls. `weir doctor` checks each upstream.',
    page: 'docs/reference/failures.md',
  },
  {
    alert: 'WeirRefusesForOverload',
    query: 'sum by (instance) (rate(weir_refusals_total{job="weir",code="overloaded"}[5m])) > 0',
    holds: '5m',
    severity: 'warning',
    summary: 'The gateway {{ $labels.instance }} refuses {{ $value }} calls a second because it is full.',
    remedy: 'Start more gateways or workers, or give them more memory.',
    page: 'docs/guide/overload.md',
  },
);

const upstreamRules = group(
  'weir-upstreams',
  {
    alert: 'WeirUpstreamFails',
    query:
      'sum by (upstream) (rate(weir_attempts_total{job="weir",result!~"2xx|4xx"}[10m])) / sum by (upstream) (rate(weir_attempts_total{job="weir"}[10m])) > 0.2',
    holds: '10m',
    severity: 'warning',
    summary: '{{ $value | humanizePercentage }} of the requests to {{ $labels.upstream }} fail.',
    remedy: 'Compare with the status page of the vendor. Models with a second target go on; the others fail.',
    page: 'docs/guide/routing.md',
  },
  {
    alert: 'WeirCredentialRejected',
    query: 'max by (upstream, credential) (weir_target_state{job="weir",state="rejected"}) == 1',
    holds: '1m',
    severity: 'critical',
    summary: '{{ $labels.upstream }} refuses the credential {{ $labels.credential }}.',
    remedy: 'Replace the key of this upstream in weir.yaml or in its secret.',
    page: 'docs/guide/configure.md',
  },
  {
    alert: 'WeirCredentialCannotBeRead',
    query: 'max by (kind, name) (weir_credential_failures{job="weir"}) > 0',
    holds: '5m',
    severity: 'warning',
    summary: 'The {{ $labels.kind }} {{ $labels.name }} could not be read {{ $value }} times in a row.',
    remedy: 'The last one stays in use until it ends. weir doctor says why, and what to do.',
    page: 'docs/guide/secrets.md',
  },
);

const bookRules = group(
  'weir-books',
  {
    alert: 'WeirJournalUnavailable',
    query: 'weir_journal_unavailable{job="weir"} == 1',
    holds: '0m',
    severity: 'critical',
    summary: 'The gateway {{ $labels.instance }} cannot write its journal and refuses all calls.',
    remedy: 'Make room on the disk of its data directory, or repair it.',
    page: 'docs/guide/run.md',
  },
  {
    alert: 'WeirLedgerLags',
    query: 'weir_journal_pending_entries{job="weir"} > 1000',
    holds: '5m',
    severity: 'warning',
    summary: '{{ $value }} calls of {{ $labels.instance }} are not in the ledger yet.',
    remedy: 'Nothing is lost, but statistics and balances are late. See whether the database answers.',
    page: 'docs/guide/postgresql.md',
  },
  {
    alert: 'WeirCallsWithoutPrice',
    query: 'sum by (model) (increase(weir_unpriced_calls_total{job="weir"}[1h])) > 0',
    holds: '0m',
    severity: 'info',
    summary: 'Calls of {{ $labels.model }} are charged 0, because it has no price.',
    remedy: '`weir usage --unpriced` lists them. Add a price.',
    page: 'docs/guide/prices.md',
  },
  {
    alert: 'WeirCallsDisputed',
    query: 'sum by (upstream) (increase(weir_disputed_calls_total{job="weir"}[1h])) > 0',
    holds: '0m',
    severity: 'warning',
    summary: '{{ $labels.upstream }} reports impossible figures of usage.',
    remedy: '`weir usage --disputed` lists the calls, which are charged by their bound.',
    page: 'docs/reference/usage.md',
  },
  {
    alert: 'WeirOpenAlert',
    query: 'max by (rule) (weir_alerts_open{job="weir"}) > 0',
    holds: '5m',
    severity: 'info',
    summary: 'Weir has found problems of the kind {{ $labels.rule }}.',
    remedy: '`weir alerts list` and the console show them.',
    page: 'docs/guide/alerts.md',
  },
);

const processRules = group(
  'weir-processes',
  {
    alert: 'WeirMemoryIsShort',
    query: 'weir_memory_share{job="weir"} > 0.85',
    holds: '10m',
    severity: 'warning',
    summary: 'The gateway {{ $labels.instance }} uses {{ $value | humanizePercentage }} of its memory.',
    remedy: 'Raise its memory limit, or start more gateways. At the limit it refuses calls.',
    page: 'docs/guide/sizing.md',
  },
  {
    alert: 'WeirEventLoopIsSlow',
    query: 'weir_event_loop_delay_seconds{job="weir",quantile="0.99"} > 0.2',
    holds: '10m',
    severity: 'warning',
    summary: 'The event loop of {{ $labels.instance }} is late by {{ $value | humanizeDuration }}.',
    remedy: 'It has more work than its processor does. Start more workers or gateways.',
    page: 'docs/guide/sizing.md',
  },
  {
    alert: 'WeirWasFrozen',
    query: 'delta(weir_loop_watchdog_restarts{job="weir"}[1h]) > 0',
    holds: '0m',
    severity: 'warning',
    summary: 'The watchdog ended a blocked process of {{ $labels.instance }}.',
    remedy: 'Its stack is in frozen-loops.jsonl of the data directory. Report it.',
    page: 'docs/guide/run.md',
  },
  {
    alert: 'WeirLogsOrTracesAreDropped',
    query: 'increase(weir_spans_total{job="weir",result="dropped"}[15m]) > 0 or increase(weir_refusals_dropped_total{job="weir"}[15m]) > 0',
    holds: '15m',
    severity: 'info',
    summary: 'The gateway {{ $labels.instance }} drops spans or rows of refusals.',
    remedy: 'The collector of traces is slow, or there is a flood of wrong requests. Calls are not affected.',
    page: 'docs/guide/observe.md',
  },
);

const videoRules = group(
  'weir-videos',
  {
    alert: 'WeirVideoNeedsAttention',
    query: 'max(weir_video_tasks_alerted{job="weir"}) > 0',
    holds: '0m',
    severity: 'warning',
    summary: '{{ $value }} videos need an operator.',
    remedy: 'The log says why (`video alert raised`).',
    page: 'docs/guide/observe.md',
  },
  {
    alert: 'WeirVideoPollsAreLate',
    query: 'max(weir_video_poll_lateness_seconds{job="weir"}) > 30',
    holds: '5m',
    severity: 'warning',
    summary: 'A poll of a video is late by {{ $value | humanizeDuration }}.',
    remedy: 'The process or its store is overloaded.',
    page: 'docs/guide/observe.md',
  },
  {
    alert: 'WeirVideoFilesWait',
    query: 'sum(weir_video_work{job="weir",state="waiting"}) > 16',
    holds: '10m',
    severity: 'info',
    summary: '{{ $value }} finished videos wait to be copied.',
    remedy: 'The network to the vendor or to the media storage is slow.',
    page: 'docs/guide/media-storage.md',
  },
);

const groups = [callRules, upstreamRules, bookRules, processRules, videoRules];

/** The queries of all rules. */
export const alertQueries: readonly string[] = groups.flatMap(({ rules }) => rules.map(({ query }) => query));

/** The pages to which rules refer. */
export const alertPages: readonly string[] = groups.flatMap(({ rules }) => rules.map(({ page }) => page));

/**
 * Writes the rules as a file of Prometheus.
 * @throws Error if a query is not PromQL, or names a metric or a label that does not exist
 */
export function writeAlertRules(table: readonly MetricDescription[]): string {
  const content = {
    groups: groups.map(({ name, rules }) => ({
      name,
      rules: rules.map(({ alert, query, holds, severity, summary, remedy, page }) => ({
        alert,
        expr: checkQuery(query, table),
        for: holds,
        labels: { severity },
        annotations: { summary, description: remedy, runbook: page },
      })),
    })),
  };
  return `# Written by \`npm run docs\` from the metrics in the code. Do not edit.\n${stringify(content, { lineWidth: 0 })}`;
}
