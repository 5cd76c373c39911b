import { createSteeredPlanner } from '../../simulator/src/vendors/create-steered-planner.ts';
import { anthropic } from '../../simulator/src/vendors/anthropic/anthropic.ts';
import { gemini } from '../../simulator/src/vendors/gemini/gemini.ts';
import { openai } from '../../simulator/src/vendors/openai/openai.ts';
import { assertValid, readSpec, skipWithoutSpecs } from '../../simulator/src/vendor-specs.ts';
import type { SimulatedVendor } from '../../simulator/src/simulated-vendor.ts';
import type { DialectId } from '../../src/dialects/dialect-id.ts';
import type { WireRequest } from '../../src/dialects/wire-request.ts';
import type { Wire } from './wire.ts';

/** The simulated vendors, which validate requests as the vendors do. */
const vendors: Readonly<Record<DialectId, { readonly vendor: SimulatedVendor; readonly path: (stream: boolean) => string }>> = {
  'anthropic-messages': { vendor: anthropic, path: () => '/v1/messages' },
  'openai-responses': { vendor: openai, path: () => '/v1/responses' },
  'openai-chat': { vendor: openai, path: () => '/v1/chat/completions' },
  'gemini-generate-content': {
    vendor: gemini,
    path: (stream) => `/v1beta/models/gemini-2.5-flash:${stream ? 'streamGenerateContent' : 'generateContent'}`,
  },
};

type DescribedAs = { readonly spec: string; readonly request: string; readonly reply: string };

/** The vendors' descriptions of their requests and replies. */
const described: Readonly<Record<DialectId, DescribedAs>> = {
  'anthropic-messages': { spec: 'anthropic', request: 'BetaCreateMessageParams', reply: 'BetaMessage' },
  'openai-responses': { spec: 'openai', request: 'CreateResponse', reply: 'Response' },
  'openai-chat': { spec: 'openai', request: 'CreateChatCompletionRequest', reply: 'CreateChatCompletionResponse' },
  'gemini-generate-content': { spec: 'gemini-v1beta', request: 'GenerateContentRequest', reply: 'GenerateContentResponse' },
};

/**
 * Compares a written request or reply with the vendor's API description. Passes if the descriptions are not beside the
 * repository.
 */
export function assertDescribed(dialect: DialectId, kind: 'request' | 'reply', body: unknown): void {
  if (skipWithoutSpecs !== false) return;
  const { spec, ...names } = described[dialect];
  assertValid(readSpec(spec).validator(names[kind]), JSON.parse(JSON.stringify(body)), `${dialect} ${kind}`);
}

/** The description of Responses requires members of items that the vendor's own examples omit. */
function completeItem(item: Wire): Wire {
  if (item.type !== 'message') return item;
  const content = item.content.map((part: Wire) => (part.type === 'input_image' ? { detail: 'auto', ...part } : { logprobs: [], ...part }));
  return item.role === 'assistant' ? { id: 'msg_1', status: 'completed', ...item, content } : { ...item, content };
}

/** A body in the form that its vendor's description requires. */
function describable(dialect: DialectId, body: Wire): Wire {
  if (dialect === 'gemini-generate-content') return { model: 'models/gemini-2.5-flash', ...body };
  return dialect === 'openai-responses' ? { ...body, input: body.input.map(completeItem) } : body;
}

/** Validates a body with the simulated vendor of a dialect. Throws the vendor's refusal. */
export function acceptBody(dialect: DialectId): (request: WireRequest) => void {
  const { vendor, path } = vendors[dialect];
  const plan = createSteeredPlanner();
  return ({ body, headers, pathFraming }) => {
    assertDescribed(dialect, 'request', describable(dialect, body));
    const request = { method: 'POST', path: path(pathFraming !== undefined), query: new URLSearchParams('alt=sse'), headers };
    // The simulator reads JSON, in which members without a value do not exist.
    vendor.handle({ ...request, body: JSON.parse(JSON.stringify(body)) }, plan);
  };
}
