import { upstreamDialects } from '../../dialects/registry.ts';
import { interfaces } from '../../inference/interfaces.ts';
import type { Counter, Family, Histogram, MetricRegistry } from '../../platform/metrics/metric-registry.ts';

/**
 * The names of OpenTelemetry's conventions for generative AI
 * (https://github.com/open-telemetry/semantic-conventions-genai). The conventions are still in development, so the
 * names are only here.
 */
export const operationNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(upstreamDialects).map(({ id, telemetryOperation }) => [id, telemetryOperation])),
  ...Object.fromEntries(Object.entries(interfaces).map(([name, { operation }]) => [name, operation])),
};

export const providerNames: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  gemini: 'gcp.gemini',
  xai: 'x_ai',
};

// The bounds that the conventions recommend.
const durationBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const firstTokenBounds = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const perTokenBounds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const tokenBounds = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
// The conventions recommend none for these two.
const chunkBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const queueBounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const callLabels = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model', 'dialect', 'upstream'];
const bookLabels = ['dialect', 'upstream', 'model'];

export type MetricFamilies = Readonly<
  Record<
    'serverDuration' | 'clientDuration' | 'timeToFirstToken' | 'timePerOutputToken' | 'chunkGaps' | 'tokenUsage' | 'queueWait' | 'toolRuns',
    Family<Histogram>
  > &
    Record<
      | 'calls'
      | 'unbooked'
      | 'refusals'
      | 'limitRefusals'
      | 'attempts'
      | 'retries'
      | 'tokens'
      | 'cost'
      | 'estimated'
      | 'disputed'
      | 'unpriced'
      | 'translations'
      | 'notes',
      Family<Counter>
    >
>;

function createHistograms(registry: MetricRegistry) {
  const { histogram } = registry;
  return {
    serverDuration: histogram({
      name: 'gen_ai_server_request_duration_seconds',
      help: 'Time from accepting a call to the end of its reply, including retries; of a video to its end. error_type is the code of its error.',
      labels: [...callLabels, 'error_type'],
      bounds: durationBounds,
    }),
    clientDuration: histogram({
      name: 'gen_ai_client_operation_duration_seconds',
      help: 'Time of the upstream: from sending the last attempt of a call to its end.',
      labels: [...callLabels, 'error_type'],
      bounds: durationBounds,
    }),
    timeToFirstToken: histogram({
      name: 'gen_ai_server_time_to_first_token_seconds',
      help: 'Time from accepting a streamed call to the first generated content that goes to the client.',
      labels: callLabels,
      bounds: firstTokenBounds,
    }),
    timePerOutputToken: histogram({
      name: 'gen_ai_server_time_per_output_token_seconds',
      help: 'Mean time per output token after the first, of streamed calls that finished.',
      labels: callLabels,
      bounds: perTokenBounds,
    }),
    chunkGaps: histogram({
      name: 'gen_ai_client_operation_time_per_output_chunk_seconds',
      help: 'Time between one piece of a running stream and the next, as they arrive from the upstream.',
      labels: callLabels,
      bounds: chunkBounds,
    }),
    tokenUsage: histogram({
      name: 'gen_ai_client_token_usage',
      help: 'Tokens per call, of calls that are counted in tokens. Input includes tokens read from and written to caches, output includes reasoning.',
      labels: [...callLabels, 'gen_ai_token_type'],
      bounds: tokenBounds,
    }),
    queueWait: histogram({
      name: 'weir_queue_wait_seconds',
      help: 'Time that calls waited for a place, of those that had to.',
      bounds: queueBounds,
    }),
    toolRuns: histogram({
      name: 'weir_tool_run_duration_seconds',
      help: 'Time of each run of a built-in tool in the gateway. outcome is ok, or the reason of its failure.',
      labels: ['tool', 'outcome'],
      bounds: durationBounds,
    }),
  };
}

function createCounters(registry: MetricRegistry) {
  const counter = (name: string, labels: readonly string[], help: string, decimals?: number): Family<Counter> =>
    registry.counter({ name, help, labels, ...(decimals === undefined ? {} : { decimals }) });
  return {
    calls: counter(
      'weir_calls_total',
      [...bookLabels, 'end', 'status'],
      'Calls in the books, by their end and the class of the status for the client; a video when it is over, with "none", because no client waits for it.',
    ),
    unbooked: counter(
      'weir_unbooked_calls_total',
      ['dialect', 'end'],
      'Calls without a row in the books: token counts, clients that disconnected before anything was sent, and requests that began a video, whose row follows at its end.',
    ),
    refusals: counter(
      'weir_refusals_total',
      ['dialect', 'code'],
      'Requests that were refused before they reached an upstream, by error code; and requests for videos that no upstream accepted.',
    ),
    limitRefusals: counter(
      'weir_limit_refusals_total',
      ['scope', 'of'],
      'Calls refused by a limit of the gateway, by its owner and its kind.',
    ),
    attempts: counter(
      'weir_attempts_total',
      ['upstream', 'result'],
      'Requests sent to upstreams: the class of the status, 429, or the code of the error.',
    ),
    retries: counter('weir_retries_total', ['upstream', 'reason'], 'Attempts that were followed by another, by their failure.'),
    tokens: counter(
      'weir_tokens_total',
      [...bookLabels, 'type'],
      'Tokens in the books. The types are disjoint, but reasoning is a part of output.',
    ),
    cost: counter('weir_cost_usd_total', bookLabels, 'Cost of the calls in the books, in USD.', 9),
    estimated: counter('weir_estimated_calls_total', bookLabels, 'Calls in the books with an estimated count.'),
    disputed: counter(
      'weir_disputed_calls_total',
      bookLabels,
      'Calls in the books whose upstream reported an impossible figure: they are charged by their bound, and weir usage --disputed lists them.',
    ),
    unpriced: counter(
      'weir_unpriced_calls_total',
      bookLabels,
      'Calls in the books that were charged 0 because their usage has no price; weir usage --unpriced lists their models.',
    ),
    translations: counter(
      'weir_translated_calls_total',
      ['dialect', 'upstream_dialect'],
      'Calls whose client and upstream speak different dialects.',
    ),
    notes: counter(
      'weir_translation_notes_total',
      ['dialect', 'upstream_dialect', 'kind'],
      'Fields that translation adapted, emulated or dropped.',
    ),
  };
}

export function createMetricFamilies(
  registry: MetricRegistry,
  inFlight: { readonly calls: () => number; readonly streams: () => number },
): MetricFamilies {
  const gauge = (name: string, help: string, read: () => number): void =>
    registry.collected({ name, help, type: 'gauge', read: () => [{ labels: [], value: read() }] });
  gauge('weir_calls_in_flight', 'Calls whose clients are not served to the end yet.', inFlight.calls);
  gauge('weir_streams_in_flight', 'Those of them that requested a stream and were sent to an upstream.', inFlight.streams);
  return { ...createHistograms(registry), ...createCounters(registry) };
}
