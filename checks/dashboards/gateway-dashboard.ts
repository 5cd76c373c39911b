import type { Dashboard, Panel, Row } from './dashboard.ts';

const here = 'job=~"$job",instance=~"$instance"';
const targets = `${here},upstream=~"$upstream"`;

/** A chart with a line for each gateway. */
const eachGateway = (title: string, about: string, unit: Panel['unit'], query: string): Panel => ({
  title,
  about,
  unit,
  width: 8,
  queries: [{ query, legend: '{{instance}}' }],
});

const upstreams: Row = {
  title: 'Upstreams',
  panels: [
    {
      title: 'Attempts that failed, by upstream',
      about: 'Share of the requests to an upstream that it answered with an error, or not at all.',
      unit: 'percentunit',
      width: 12,
      queries: [
        {
          query: `sum by (upstream) (rate(weir_attempts_total{${targets},result!="2xx"}[$__rate_interval])) / sum by (upstream) (rate(weir_attempts_total{${targets}}[$__rate_interval]))`,
          legend: '{{upstream}}',
        },
      ],
    },
    {
      title: 'Attempts by result',
      about: 'The class of the status, 429, or the code of the error.',
      unit: 'reqps',
      width: 12,
      queries: [
        {
          query: `sum by (upstream, result) (rate(weir_attempts_total{${targets}}[$__rate_interval]))`,
          legend: '{{upstream}} {{result}}',
        },
      ],
    },
    {
      title: 'Targets that are not healthy',
      about: 'Targets that come after all others at present: failing, over the rate of the vendor, or with a refused credential.',
      unit: 'short',
      width: 12,
      queries: [
        {
          query: `sum by (upstream, model, state) (max by (upstream, credential, model, state) (weir_target_state{${targets},state!="healthy"})) > 0`,
          legend: '{{upstream}} {{model}}: {{state}}',
        },
      ],
    },
    {
      title: 'Age of secrets and credentials',
      about: 'Time since each was read last. Secrets are read every five minutes, and credentials of clouds before they end.',
      unit: 's',
      width: 12,
      queries: [{ query: `max by (kind, name) (weir_credential_age_seconds{${here}})`, legend: '{{kind}} {{name}}' }],
    },
    {
      title: 'Failures to read secrets and credentials',
      about: 'Failures since the last success. The last secret or credential stays in use until it ends.',
      unit: 'short',
      width: 12,
      queries: [{ query: `max by (kind, name) (weir_credential_failures{${here}}) > 0`, legend: '{{kind}} {{name}}' }],
    },
    {
      title: 'Running attempts by target',
      about: 'Where calls are at present.',
      unit: 'short',
      width: 12,
      kind: 'stack',
      queries: [{ query: `sum by (upstream, model) (weir_target_calls_in_flight{${targets}})`, legend: '{{upstream}} {{model}}' }],
    },
  ],
};

const load: Row = {
  title: 'Load of each gateway',
  panels: [
    eachGateway('Streams under way', 'Autoscaling follows this figure.', 'short', `weir_streams_in_flight{${here}}`),
    eachGateway('Calls under way', 'Calls whose clients are not served to the end yet.', 'short', `weir_calls_in_flight{${here}}`),
    eachGateway(
      'Calls that wait for a place',
      'The gateway admits only what it can serve in time. After `overload.waitMs` a waiting call is refused.',
      'short',
      `weir_gate_calls{${here},state="waiting"}`,
    ),
    eachGateway('Processors', 'Used processors: 1 is one core.', 'short', `rate(process_cpu_seconds_total{${here}}[$__rate_interval])`),
    eachGateway(
      'Event loop, 99 %',
      'Delay of the event loop. Above some 50 ms calls begin to wait.',
      's',
      `weir_event_loop_delay_seconds{${here},quantile="0.99"}`,
    ),
    eachGateway(
      'Longest silence',
      'Longest time for which the event loop was blocked since the start. At `WEIR_WATCHDOG_SECONDS` the process ends itself.',
      's',
      `weir_loop_longest_silence_seconds{${here}}`,
    ),
    eachGateway('Memory', 'Resident memory of all its processes.', 'bytes', `process_resident_memory_bytes{${here}}`),
    eachGateway(
      'Share of its memory',
      'Of what the process may use. Near 1 it refuses calls.',
      'percentunit',
      `weir_memory_share{${here}}`,
    ),
    eachGateway('Open files and sockets', 'A stream has two sockets.', 'short', `process_open_fds{${here}}`),
  ],
};

const keeping: Row = {
  title: 'Journal, threads and videos',
  panels: [
    eachGateway(
      'Calls in the journal',
      'Calls that are on disk and not yet in the ledger.',
      'short',
      `weir_journal_pending_entries{${here}}`,
    ),
    eachGateway(
      'Journal out of order',
      '1 while the journal cannot be written and all calls are refused.',
      'short',
      `weir_journal_unavailable{${here}}`,
    ),
    {
      title: 'Threads for foreign files',
      about: 'Jobs that parse files, pages and schemas, and those that wait.',
      unit: 'short',
      width: 8,
      queries: [
        { query: `sum by (pool) (weir_isolated_jobs_running{${here}})`, legend: '{{pool}} running' },
        { query: `sum by (pool) (weir_isolated_jobs_waiting{${here}})`, legend: '{{pool}} waiting' },
      ],
    },
    {
      title: 'Tools, 95 %',
      about: 'Time of runs of tools that the gateway runs itself.',
      unit: 's',
      width: 8,
      queries: [
        {
          query: `histogram_quantile(0.95, sum by (le, tool) (rate(weir_tool_run_duration_seconds_bucket{${here}}[$__rate_interval])))`,
          legend: '{{tool}}',
        },
      ],
    },
    {
      title: 'Videos',
      about: 'Videos that are not over, and those of them that need an operator. All gateways of a database have the same.',
      unit: 'short',
      width: 8,
      queries: [
        { query: `max(weir_video_tasks_open{${here}})`, legend: 'open' },
        { query: `max(weir_video_tasks_alerted{${here}})`, legend: 'need an operator' },
        { query: `sum(weir_video_work{${here},state="waiting"})`, legend: 'files that wait' },
      ],
    },
    {
      title: 'Versions',
      about: 'Gateways by the version that they run: two while a new one is rolled out.',
      unit: 'short',
      width: 8,
      kind: 'bars',
      queries: [{ query: `count by (version, commit) (weir_build_info{${here}})`, legend: '{{version}} {{commit}}' }],
    },
  ],
};

/** The gateways themselves and their upstreams, for those who run them. */
export const gatewayDashboard: Dashboard = {
  uid: 'weir-gateways',
  title: 'Weir: gateways',
  about: 'Health of upstreams, load of each gateway, journal and memory.',
  rows: [upstreams, load, keeping],
};
