import type { InferenceRequest, TextPart } from '../../../inference/inference-request.ts';
import type { RequestFit } from '../../chat-codec.ts';

const jsonHint: TextPart = { kind: 'text', text: 'When you give the final answer, write one JSON object and nothing else.' };

/**
 * Fits a request to models that accept only functions: with functions, the vendor refuses its own tools ("Tool use with
 * function calling is unsupported") and JSON answers ("Function calling with a response mime type 'application/json' is
 * unsupported"). Functions have precedence, because the client's program waits for their calls.
 */
export function separateTools(request: InferenceRequest, { traits, notes }: RequestFit): InferenceRequest {
  const functions = request.tools.filter((tool) => tool.kind === 'function');
  if (traits.mixesTools || functions.length === 0) return request;
  for (const tool of request.tools) {
    if (tool.kind === 'function' || tool.kind === 'vendor') continue;
    notes.dropped({ path: tool.path, otherwise: 'tools' }, `this model does not support ${tool.kind} beside functions`);
  }
  const tools = request.tools.filter((tool) => tool.kind === 'function' || tool.kind === 'vendor');
  if (request.outputFormat?.kind !== 'json') return { ...request, tools };
  notes.emulated('outputFormat', 'this model does not support JSON mode beside functions; the prompt asks for JSON');
  const { outputFormat: _asked, ...rest } = request;
  return { ...rest, tools, instructions: [...request.instructions, jsonHint] };
}
