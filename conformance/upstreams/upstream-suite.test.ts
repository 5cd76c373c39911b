import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import type { Operation, UpstreamDialectId } from '../../src/dialects/dialect-id.ts';
import { upstreamDialects } from '../../src/dialects/registry.ts';
import { createEventStreamReader } from '../../src/platform/event-stream/event-stream-reader.ts';
import type { Frame, StreamFraming } from '../../src/platform/frames.ts';
import type { ReplyHeaders } from '../../src/platform/http/reply-head.ts';
import { applyJsonEdits } from '../../src/platform/json/json-edits.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { changeHeaders } from '../../src/upstreams/reshape.ts';
import type { UpstreamRoute } from '../../src/upstreams/upstream-route.ts';
import { createUpstreamClient, type UpstreamClient, type UpstreamHandler } from '../../src/platform/http/upstream-client.ts';
import { createJsonArrayFrameReader } from '../../src/platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../src/platform/sse/sse-frame-reader.ts';
import { upstreamVendors } from '../../src/upstreams/registry.ts';
import type { UpstreamVendor } from '../../src/upstreams/upstream-vendor.ts';
import { chatInterfaces, type ChatInterface } from '../support/interfaces.ts';

/**
 * Requirements of every kind of upstream, tested with servers that answer as its vendor does. An upstream of the
 * registry is in this suite. The servers know one key, so that a credential in the wrong place is refused.
 */
const apiKey = 'sk-known-0123456789';
const timeoutMs = 60_000;

/**
 * A compatible server is one that speaks the same interface: OpenAI's for two of them, Anthropic's, whose paths begin
 * with `/v1`, for the third.
 */
function baseUrlOf(vendor: UpstreamVendor, dialect: UpstreamDialectId, { addresses, aws, azure }: RunningSimulator): string {
  if (vendor.id === 'bedrock') return aws.runtimeUrl;
  if (vendor.id === 'azure') return `${azure?.endpoint}/openai/v1`;
  if (vendor.id === 'foundry') return `${azure?.endpoint}/anthropic`;
  if (vendor.id !== 'openai-compatible' && vendor.id in addresses) return addresses[vendor.id as keyof typeof addresses];
  return dialect === 'anthropic-messages' ? `${addresses.anthropic}/v1` : addresses.openai;
}

/** Deployments that have the names of their models. */
const deploymentsOf = (...models: readonly string[]) => Object.fromEntries(models.map((model) => [model, { model }]));

/** A request of a dialect, as the gateway would write it. */
type Example = Pick<ChatInterface, 'headers' | 'model' | 'body'>;

const converseExample: Example = {
  headers: {},
  model: 'us.amazon.nova-lite-v1:0',
  body: (_model, text) => ({ messages: [{ role: 'user', content: [{ text }] }], inferenceConfig: { maxTokens: 500 } }),
};

const exampleOf = (dialect: UpstreamDialectId): Example | undefined =>
  dialect === 'bedrock-converse' ? converseExample : chatInterfaces.find((each) => each.dialect === dialect);

type Answer = { readonly status: number; readonly type: string; readonly headers: ReplyHeaders; readonly body: Buffer };

/** A model of a vendor, by its name there. */
function modelOf(vendor: UpstreamVendor, dialect: UpstreamDialectId, usual: string): string {
  if (vendor.id === 'bedrock' && dialect === 'anthropic-messages') return 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
  return vendor.id === 'xai' ? 'grok-4' : usual;
}

type Written = { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer };

/** A request with the changes that its vendor makes. */
function shape(vendor: UpstreamVendor, route: UpstreamRoute, body: object, headers: Readonly<Record<string, string>>): Written {
  const bytes = Buffer.from(JSON.stringify(body));
  const changes = vendor.reshape?.({ route, body: body as JsonObject, bytes, headers }, {});
  return { headers: changeHeaders(headers, changes?.headers), body: applyJsonEdits(bytes, changes?.edits ?? []) };
}

function ask(client: UpstreamClient, path: string, { headers, body }: Written): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const chunks: Buffer[] = [];
  let status = 0;
  let type = '';
  let replied: ReplyHeaders = {};
  const handler: UpstreamHandler = {
    onRequestStart: () => {},
    onResponseStart: (_controller, code, replyHeaders) => {
      status = code;
      type = String(replyHeaders['content-type'] ?? '');
      replied = replyHeaders;
    },
    onResponseData: (_controller, chunk) => void chunks.push(Buffer.from(chunk)),
    onResponseEnd: () => resolve({ status, type, headers: replied, body: Buffer.concat(chunks) }),
    onResponseError: (_controller, error) => reject(error),
  };
  client.send({ path, method: 'POST', headers, body }, handler);
  return promise;
}

function readFrames(framing: StreamFraming, body: Buffer): readonly Frame[] {
  const options = { frameBytesMax: 1_000_000 };
  if (framing === 'aws-event-stream') return createEventStreamReader(options).push(body);
  return (framing === 'sse' ? createSseFrameReader(options) : createJsonArrayFrameReader(options)).push(body);
}

/** The framings of a dialect's streams. */
const framingsOf = (dialect: UpstreamDialectId): readonly StreamFraming[] =>
  dialect === 'gemini-generate-content' ? ['sse', 'json-array'] : ['sse'];

/** The members that a dialect requires for generating and refuses for counting. */
function countBody(body: Record<string, unknown>): object {
  const { max_tokens: _, ...counted } = body;
  return counted;
}

describe('upstreams', () => {
  let simulator: RunningSimulator;
  const clients = new Map<string, UpstreamClient>();
  before(async () => {
    simulator = await startSimulator({
      apiKeys: [apiKey],
      azure: { keys: [apiKey], deployments: deploymentsOf('gpt-5-mini', 'gpt-4.1', 'claude-sonnet-4-5') },
    });
  });
  after(async () => {
    await Promise.all([...clients.values()].map((client) => client.close()));
    await simulator.close();
  });

  function reach(vendor: UpstreamVendor, dialect: UpstreamDialectId, operation: Operation, framing?: StreamFraming) {
    const api = exampleOf(dialect);
    assert.ok(api, `${dialect} has an example request`);
    const model = modelOf(vendor, dialect, api.model);
    const base = new URL(baseUrlOf(vendor, dialect, simulator));
    const route = { dialect, operation, upstreamModel: model, ...(framing === undefined ? {} : { framing }) };
    const path = vendor.locate(route, {});
    assert.ok(path, 'the vendor has the route');
    const client =
      clients.get(base.origin) ?? createUpstreamClient({ origin: base.origin, connectTimeoutMs: timeoutMs, headerBytesMax: 65_536 });
    clients.set(base.origin, client);
    const body = api.body(model, 'Hello', framing !== undefined);
    const asked = operation === 'count-tokens' ? countBody(body) : body;
    return (credential: Readonly<Record<string, string>>) => {
      const written = shape(vendor, route, asked, { 'content-type': 'application/json', ...api.headers, ...credential });
      return ask(client, base.pathname.replace(/\/$/, '') + path, written);
    };
  }

  // Vertex AI has a suite of its own, and so has the Claude Platform on two clouds.
  for (const vendor of Object.values(upstreamVendors).filter(({ id }) => !['vertex', 'claude-aws', 'claude-google'].includes(id))) {
    describe(vendor.id, { timeout: timeoutMs }, () => {
      const spoken = [...vendor.dialects, ...vendor.optionalDialects];

      test('it speaks at least one dialect, and only existing ones', () => {
        assert.ok(vendor.dialects.length > 0);
        for (const dialect of spoken) assert.ok(dialect in upstreamDialects);
      });

      for (const dialect of spoken) {
        test(`${dialect}: a whole reply comes from the located path, and its usage can be read`, async () => {
          const { status, body } = await reach(vendor, dialect, 'generate')(vendor.credentialHeaders(apiKey, dialect));
          assert.equal(status, 200, body.toString());
          const report = upstreamDialects[dialect].readReply(JSON.parse(body.toString()));
          assert.equal(report.error, undefined);
          const usage =
            report.usageReport === undefined ? undefined : (vendor.correctUsage?.(report.usageReport, dialect) ?? report.usageReport).usage;
          assert.ok((usage?.inputTokens ?? 0) > 0 && (usage?.outputTokens ?? 0) > 0, JSON.stringify(report));
        });

        for (const framing of framingsOf(dialect)) {
          test(`${dialect}: a stream as ${framing} comes from the located path and completes`, async () => {
            const { status, type, body } = await reach(vendor, dialect, 'generate', framing)(vendor.credentialHeaders(apiKey, dialect));
            assert.equal(status, 200, body.toString());
            const isBinary = type === 'application/vnd.amazon.eventstream';
            if (!isBinary) assert.match(type, framing === 'sse' ? /^text\/event-stream/ : /^application\/json/);
            const tap = upstreamDialects[dialect].createStreamTap({ framing, request: {} });
            const { reframe = (frame: Frame) => [frame] } = vendor;
            for (const frame of readFrames(isBinary ? 'aws-event-stream' : framing, body))
              for (const each of isBinary ? reframe(frame, dialect) : [frame]) tap.read(each);
            assert.equal(tap.state(), 'complete');
          });
        }

        test(`${dialect}: without a credential, or with an unknown one, it is refused in a format that the dialect reads`, async () => {
          const call = reach(vendor, dialect, 'generate');
          for (const credential of [{}, vendor.credentialHeaders('sk-unknown', dialect)]) {
            const { status, headers, body } = await call(credential);
            assert.ok([400, 401, 403].includes(status), `${status} ${body.toString()}`);
            const refusal = vendor.readRefusal?.({ status, headers, body, model: 'm' }, dialect);
            assert.ok((refusal ?? upstreamDialects[dialect].readReply(JSON.parse(body.toString())).error) !== undefined, body.toString());
          }
        });

        test(`${dialect}: token counting is offered if it is located, and generates no reply`, async (context) => {
          if (vendor.locate({ dialect, operation: 'count-tokens', upstreamModel: modelOf(vendor, dialect, 'm') }, {}) === undefined)
            return context.skip('the vendor does not have this route');
          const { status, body } = await reach(vendor, dialect, 'count-tokens')(vendor.credentialHeaders(apiKey, dialect));
          assert.equal(status, 200, body.toString());
          assert.match(body.toString(), /"(?:input_tokens|totalTokens|inputTokens)":\s*\d+/);
        });
      }

      test('the key is never in an address', () => {
        assert.deepEqual(
          simulator.records().filter(({ path }) => /key=|sk-/.test(path)),
          [],
        );
      });
    });
  }
});
