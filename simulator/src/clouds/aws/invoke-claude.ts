import type { IncomingMessage, ServerResponse } from 'node:http';
import { asText, isRecord, parseRecord, recordsOf } from '../../read-json.ts';
import type { JsonRecord } from '../../simulated-vendor.ts';
import type { AwsState } from './aws-state.ts';
import { askMaker, readAll } from './ask-maker.ts';
import { makersHeaders } from './bedrock-headers.ts';
import { damage, writeEvent, writeException } from './event-frame.ts';
import { findGuardrailProblem, judge, readGuardrailHeaders, type AskedGuardrail } from './guardrail.ts';
import type { Invocation } from './invocation.ts';

/** The beta flags that InvokeModel accepted when Envoy probed it, with two of LiteLLM's list. */
const betas = new Set(
  'computer-use-2024-10-22 computer-use-2025-01-24 context-1m-2025-08-07 context-management-2025-06-27 dev-full-thinking-2025-05-14 effort-2025-11-24 fine-grained-tool-streaming-2025-05-14 interleaved-thinking-2025-05-14 mcp-client-2025-04-04 mcp-client-2025-11-20 model-context-window-exceeded-2025-08-26 output-128k-2025-02-19 pdfs-2024-09-25 search-results-2025-06-09 token-counting-2024-11-01 token-efficient-tools-2025-02-19 tool-examples-2025-10-29 tool-search-tool-2025-10-19 web-search-2025-03-05'.split(
    ' ',
  ),
);

/** Why Bedrock refuses a body of InvokeModel. Undefined if it accepts it. */
function findProblem(body: JsonRecord): string | undefined {
  for (const member of ['model', 'stream']) if (member in body) return `#: extraneous key [${member}] is not permitted`;
  // Anthropic's bedrock-sdk 1.1 sends the version of its own interface, such as 2026-10-21.
  if (!/^(?:bedrock-)?\d{4}-\d{2}-\d{2}$/.test(asText(body.anthropic_version))) return 'anthropic_version: Field required';
  const flags = Array.isArray(body.anthropic_beta) ? body.anthropic_beta : [];
  if (flags.some((flag) => typeof flag !== 'string' || !betas.has(flag))) return 'invalid beta flag';
  if (recordsOf(body.tools).some((tool) => 'eager_input_streaming' in tool))
    return 'tools.0.custom.eager_input_streaming: Extra inputs are not permitted';
  return undefined;
}

/** InvokeModel, its stream and CountTokens for Claude, answered by the simulated Anthropic. */
export async function invokeClaude(state: AwsState, invocation: Invocation): Promise<void> {
  const { model, operation, fail } = invocation;
  const isArn = model.startsWith('arn:');
  if (!isArn && !/^(?:(?:us|eu|apac|global)\.)?anthropic\./.test(model))
    return fail(400, 'ValidationException', 'The provided model identifier is invalid.');
  if (model.includes('not-enabled'))
    return fail(403, 'AccessDeniedException', "You don't have access to the model with the specified model ID.");
  const isCount = operation === 'count-tokens';
  if (isCount && (isArn || !model.startsWith('anthropic.')))
    return fail(400, 'ValidationException', 'The provided model identifier is invalid.');
  const parsed = parseRecord(isCount ? readCounted(invocation.body) : invocation.body);
  if (parsed === undefined) return fail(400, 'ValidationException', 'Malformed input request, please reformat your input and try again.');
  const problem = findProblem(parsed) ?? findGuardrailProblem(readGuardrailHeaders(invocation.request.headers));
  if (problem !== undefined) return fail(400, 'ValidationException', problem);
  if (isCount && parsed.max_tokens === undefined) return fail(400, 'ValidationException', 'max_tokens: Field required');
  await ask(state, invocation, parsed, isCount);
}

async function ask(
  state: AwsState,
  { model, operation, request, response, fail }: Invocation,
  body: JsonRecord,
  isCount: boolean,
): Promise<void> {
  const { anthropic_version: _version, anthropic_beta, max_tokens, ...rest } = body;
  const flags = Array.isArray(anthropic_beta) ? anthropic_beta.map(asText).join(',') : '';
  const guardrail = isCount ? undefined : readGuardrailHeaders(request.headers);
  const streams = operation === 'invoke-with-response-stream';
  // A guardrail reads the whole reply before it lets it pass.
  const asksForStream = streams && guardrail === undefined;
  const asked = { ...rest, model: ownName(model), ...(isCount ? {} : { max_tokens, stream: asksForStream }) };
  const reply = await askMaker(`${state.vendors.anthropic}/v1/messages${isCount ? '/count_tokens' : ''}`, {
    method: 'POST',
    headers: {
      ...makersHeaders(state, request),
      ...(flags !== '' && { 'anthropic-beta': flags }),
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: Buffer.from(JSON.stringify(asked)),
  });
  const status = reply.statusCode ?? 500;
  if (asksForStream && status === 200) return await writeFrames(state, reply, response);
  const whole = parseRecord(await readAll(reply)) ?? {};
  if (status !== 200) {
    const message = isRecord(whole.error) ? asText(whole.error.message) : 'failed';
    return fail(status === 529 ? 503 : status, kinds[status] ?? 'InternalServerException', message);
  }
  const answered = isCount ? { inputTokens: whole.input_tokens } : guard(guardrail, JSON.stringify(rest.messages), whole);
  if (streams) return streamWhole(response, answered);
  response.writeHead(200, { 'content-type': 'application/json', 'x-amzn-requestid': 'simulated' });
  response.end(JSON.stringify(answered));
}

/** A reply after a guardrail, with the members that say what it did. */
function guard(asked: AskedGuardrail | undefined, prompt: string, reply: JsonRecord): JsonRecord {
  if (asked === undefined) return reply;
  const said = recordsOf(reply.content)
    .map(({ text }) => asText(text))
    .join('');
  const found = judge(asked, prompt, said);
  if (found === undefined) return { ...reply, 'amazon-bedrock-guardrailAction': 'NONE' };
  return {
    ...reply,
    content: [{ type: 'text', text: found.text }],
    ...(found.refusesPrompt && { usage: { input_tokens: 0, output_tokens: 0 } }),
    'amazon-bedrock-guardrailAction': 'INTERVENED',
    'amazon-bedrock-trace': found.trace,
  };
}

/** A guarded reply as a stream of one piece. What the guardrail did is in its last event. */
function streamWhole(response: ServerResponse, whole: JsonRecord): void {
  const { content, stop_reason, usage, ...message } = whole;
  const ended = Object.fromEntries(Object.entries(message).filter(([name]) => name.startsWith('amazon-bedrock-')));
  const opened = Object.fromEntries(Object.entries(message).filter(([name]) => !name.startsWith('amazon-bedrock-')));
  const { output_tokens } = isRecord(usage) ? usage : {};
  const text = recordsOf(content)
    .map((block) => asText(block.text))
    .join('');
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'simulated' });
  for (const event of [
    { type: 'message_start', message: { ...opened, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
    { type: 'message_stop', ...ended },
  ])
    response.write(chunkOf(JSON.stringify(event)));
  response.end();
}

const kinds: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  404: 'ResourceNotFoundException',
  413: 'ValidationException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
  529: 'ServiceUnavailableException',
};

/** `us.anthropic.claude-sonnet-4-5-20250929-v1:0` → `claude-sonnet-4-5-20250929`. */
const ownName = (model: string): string =>
  model.startsWith('arn:') ? 'claude-sonnet-4-5' : model.replace(/^.*?anthropic\./, '').replace(/(?:-v\d+)?(?::\d+)*$/, '');

async function writeFrames(state: AwsState, reply: IncomingMessage, response: ServerResponse): Promise<void> {
  const fault = state.takeFault('stream');
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'simulated' });
  let written = 0;
  for await (const data of eventsOf(reply)) {
    if (fault !== undefined && written === fault.afterFrames) {
      // The frame comes after the others have been read.
      if (written > 0) await new Promise((resolve) => void setTimeout(resolve, 100));
      const frame =
        fault.kind === 'exception'
          ? writeException(fault.type, 'Too many tokens, please wait before trying again.')
          : damage(chunkOf(data));
      response.end(frame);
      return;
    }
    response.write(chunkOf(data));
    written += 1;
  }
  response.end();
}

function chunkOf(data: string): Buffer {
  const event = JSON.parse(data) as JsonRecord;
  const metrics = { inputTokenCount: 14, outputTokenCount: 36, invocationLatency: 926, firstByteLatency: 300 };
  const full = event.type === 'message_stop' ? { ...event, 'amazon-bedrock-invocationMetrics': metrics } : event;
  const bytes = Buffer.from(JSON.stringify(full)).toString('base64');
  return writeEvent('chunk', JSON.stringify({ bytes, p: 'abcdefghijklmnopqrstuvwxyz'.slice(0, 1 + (bytes.length % 26)) }));
}

/** The data of the events of a stream as Anthropic writes it. */
async function* eventsOf(reply: IncomingMessage): AsyncGenerator<string> {
  let text = '';
  reply.setEncoding('utf8');
  for await (const chunk of reply) {
    text += String(chunk);
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield data;
    }
  }
}

/** The body of InvokeModel that CountTokens takes in base64. */
function readCounted(body: Buffer): Buffer | undefined {
  const input = parseRecord(body)?.input;
  const invoked = isRecord(input) && isRecord(input.invokeModel) ? input.invokeModel.body : undefined;
  return typeof invoked === 'string' ? Buffer.from(invoked, 'base64') : undefined;
}
