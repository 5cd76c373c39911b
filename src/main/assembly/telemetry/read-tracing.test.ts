import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readTracing } from './read-tracing.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
const read = (variables: Readonly<Record<string, string>>) => readTracing((name) => variables[name]);

test('without a collector there are no traces', () => {
  assert.equal(read({}), undefined);
  assert.equal(read({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), undefined);
  assert.equal(read({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }), undefined);
});

test('an endpoint alone has the defaults of OpenTelemetry', () => {
  assert.deepEqual(read(endpoint), {
    url: 'http://collector:4318/v1/traces',
    headers: {},
    timeoutMs: 10_000,
    queueMax: 2048,
    batchMax: 512,
    delayMs: 5000,
    resource: { 'service.name': 'weir' },
    sampling: { followsCaller: true, ratio: 1 },
  });
});

test('variables for traces win over those for all signals', () => {
  const tracing = read({
    ...endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://other/x',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b=two%20words',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=3',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=x,deployment.environment.name=test',
    OTEL_SERVICE_NAME: 'gateway',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
  });
  assert.equal(tracing?.url, 'https://other/x');
  assert.deepEqual(tracing?.headers, { a: '3', b: 'two words' });
  assert.equal(tracing?.timeoutMs, 2);
  assert.deepEqual(tracing?.resource, { 'service.name': 'gateway', 'deployment.environment.name': 'test' });
  assert.deepEqual(tracing?.sampling, { followsCaller: false, ratio: 0.1 });
});

test('an invalid variable is named, without a value that may be a credential', () => {
  const wrong: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /http:\/\//],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"/],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'secret-value' },
      /^Error: OTEL_EXPORTER_OTLP_HEADERS must be a list of name=value, separated by commas$/,
    ],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
      /^Error: OTEL_EXPORTER_OTLP_HEADERS has a value with a broken percent-encoding$/,
    ],
    [{ ...endpoint, OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /OTEL_TRACES_SAMPLER/],
    [{ ...endpoint, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, /OTEL_TRACES_SAMPLER_ARG/],
    [{ ...endpoint, OTEL_BSP_MAX_QUEUE_SIZE: '0' }, /OTEL_BSP_MAX_QUEUE_SIZE/],
  ];
  for (const [variables, reason] of wrong) assert.throws(() => read(variables), reason);
});
