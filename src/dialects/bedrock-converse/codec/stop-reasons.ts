import type { StopReason } from '../../../inference/inference-reply.ts';
import { filledText, meaningOf, textOf } from '../../../platform/json/json-readers.ts';

/** Source: StopReason of the Bedrock API reference. */
const neutralByWire: Readonly<Record<string, StopReason | undefined>> = {
  end_turn: 'end',
  stop_sequence: 'stop-sequence',
  tool_use: 'tool-calls',
  max_tokens: 'output-limit',
  model_context_window_exceeded: 'context-limit',
  content_filtered: 'refusal',
  guardrail_intervened: 'refusal',
  malformed_model_output: 'failed',
  malformed_tool_use: 'failed',
};

/** The explanation that clients receive of an unusual end. */
const details: Readonly<Record<string, string | undefined>> = {
  content_filtered: 'A filter of the model service refused the content.',
  guardrail_intervened: 'A guardrail of the model service intervened.',
  malformed_model_output: 'The model wrote output that the model service could not read.',
  malformed_tool_use: 'The model wrote a tool call that the model service could not read.',
};

type Ending = { readonly stopReason: StopReason; readonly stopDetail?: string };

/** Reads how a reply ended. Unknown reasons are ordinary ends. */
export function decodeEnding(stopReason: unknown, hasToolCalls: boolean): Ending {
  const neutral = meaningOf(stopReason, neutralByWire) ?? 'end';
  const detail = filledText(meaningOf(textOf(stopReason), details));
  return {
    // Some models report an ordinary end although there are calls.
    stopReason: neutral === 'end' && hasToolCalls ? 'tool-calls' : neutral,
    ...(detail === undefined ? {} : { stopDetail: detail }),
  };
}
