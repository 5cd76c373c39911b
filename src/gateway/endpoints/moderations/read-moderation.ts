import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import { type ModerationRequest, readModerationRequest } from '../../../dialects/openai-moderations/read-moderation-request.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { checkAddress } from '../../attempts/exchange/private-addresses.ts';
import type { CallSettings } from '../../settings/call-settings.ts';

/** A validated moderation request. */
export type Moderation = {
  /** Each input gets a verdict. */
  readonly inputs: ModerationRequest['inputs'];
  readonly facts: CallFacts;
  /** The usage bounds, for holds and quotes alike. */
  readonly bounds: UsageBounds;
};

/** An image has at most about 5,000 tokens with the present models of every vendor. */
const imageTokensMax = 8192;
const imageTokensExpected = 1024;

type ModerationSettings = Pick<CallSettings, 'validation' | 'allowsPrivateMedia'>;

/** Validates a moderation request. @throws GatewayError that names the field */
export function readModeration(body: JsonObject, { validation, allowsPrivateMedia }: ModerationSettings): Moderation {
  const { requestedModel, inputs } = readModerationRequest(body, validation);
  let inputCharacters = 0;
  let textBytes = 0;
  let images = 0;
  for (const part of inputs.flat()) {
    if (part.kind === 'image') {
      images += 1;
      // The judging server may fetch it from inside the operator's network.
      if (allowsPrivateMedia !== true) checkAddress(part.url, 'input');
    } else {
      inputCharacters += part.text.length;
      textBytes += Buffer.byteLength(part.text);
    }
  }
  const facts = { requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 };
  const bounds = {
    expected: { inputTokens: estimateTokens(inputCharacters) + images * imageTokensExpected },
    most: { inputTokens: textBytes + images * imageTokensMax },
  };
  return { inputs, facts, bounds };
}
