import type { Sampling } from '../../../gateway/telemetry/call-trace.ts';

/** Where spans are sent, and which. */
export type Tracing = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The most spans that wait; further ones are dropped. */
  readonly queueMax: number;
  readonly batchMax: number;
  readonly delayMs: number;
  /** Attributes of this program, sent with every batch. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampling: Sampling;
};

type Variable = (name: string) => string | undefined;

/** A variable whose value cannot be used. */
export class TracingError extends Error {}

/** `name=value,name=value` with percent-encoded values, as OpenTelemetry writes lists. */
function readList(name: string, text: string | undefined): Readonly<Record<string, string>> {
  if (text === undefined) return {};
  const pairs = text.split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      // The value may be a credential and is not repeated.
      if (at < 1) throw new TracingError(`${name} must be a list of name=value, separated by commas`);
      try {
        return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
      } catch {
        throw new TracingError(`${name} has a value with a broken percent-encoding`);
      }
    }),
  );
}

function readCount(variable: Variable, name: string, fallback: number): number {
  const text = variable(name);
  if (text === undefined) return fallback;
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0 && count <= 1_000_000) return count;
  throw new TracingError(`${name} must be an integer from 1 to 1000000, but it is "${text}"`);
}

function readRatio(variable: Variable): number {
  const text = variable('OTEL_TRACES_SAMPLER_ARG');
  const ratio = Number(text ?? '1');
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new TracingError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, but it is "${text}"`);
}

function readSampling(variable: Variable): Sampling {
  const sampler = variable('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const followsCaller = sampler.startsWith('parentbased_');
  switch (sampler.replace(/^parentbased_/, '')) {
    case 'always_on':
      return { followsCaller, ratio: 1 };
    case 'always_off':
      return { followsCaller, ratio: 0 };
    case 'traceidratio':
      return { followsCaller, ratio: readRatio(variable) };
    default:
      throw new TracingError(
        `OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of them after parentbased_, but it is "${sampler}"`,
      );
  }
}

function readResource(variable: Variable): Tracing['resource'] {
  const attributes = readList('OTEL_RESOURCE_ATTRIBUTES', variable('OTEL_RESOURCE_ATTRIBUTES'));
  return { ...attributes, 'service.name': variable('OTEL_SERVICE_NAME') ?? attributes['service.name'] ?? 'weir' };
}

/** The address for traces: its own variable, or the endpoint for all signals with the path of traces. */
function readAddress(variable: Variable): string | undefined {
  const own = variable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const common = variable('OTEL_EXPORTER_OTLP_ENDPOINT');
  const address = own ?? (common === undefined ? undefined : `${common.replace(/\/+$/, '')}/v1/traces`);
  if (address === undefined) return undefined;
  if (!URL.canParse(address) || !/^https?:\/\//.test(address))
    throw new TracingError(
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an address that begins with http:// or https://, such as http://localhost:4318',
    );
  return address;
}

/**
 * Reads the variables that OpenTelemetry defines
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). Undefined if no traces are
 * configured. @throws TracingError
 */
export function readTracing(variable: Variable): Tracing | undefined {
  const url = readAddress(variable);
  if (url === undefined || variable('OTEL_SDK_DISABLED') === 'true' || variable('OTEL_TRACES_EXPORTER') === 'none') return undefined;
  const protocol = variable('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? variable('OTEL_EXPORTER_OTLP_PROTOCOL');
  // Collectors accept JSON at the HTTP address of protobuf; the content type decides.
  if (protocol !== undefined && protocol !== 'http/json' && protocol !== 'http/protobuf')
    throw new TracingError(
      `OTEL_EXPORTER_OTLP_PROTOCOL is "${protocol}", but Weir sends http/json; collectors take it on their HTTP port, usually 4318`,
    );
  const ownTimeout =
    variable('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT') === undefined ? 'OTEL_EXPORTER_OTLP_TIMEOUT' : 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT';
  return {
    url,
    headers: {
      ...readList('OTEL_EXPORTER_OTLP_HEADERS', variable('OTEL_EXPORTER_OTLP_HEADERS')),
      ...readList('OTEL_EXPORTER_OTLP_TRACES_HEADERS', variable('OTEL_EXPORTER_OTLP_TRACES_HEADERS')),
    },
    timeoutMs: readCount(variable, ownTimeout, 10_000),
    queueMax: readCount(variable, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048),
    batchMax: readCount(variable, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    delayMs: readCount(variable, 'OTEL_BSP_SCHEDULE_DELAY', 5000),
    resource: readResource(variable),
    sampling: readSampling(variable),
  };
}
