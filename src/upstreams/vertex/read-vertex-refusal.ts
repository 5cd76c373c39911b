import type { UpstreamDialectId } from '../../dialects/dialect-id.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { objectsOf, textOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { parseIfJson } from '../../platform/json/parse-if-json.ts';
import { decodeGoogleError, googleErrorOf } from '../google-errors.ts';
import type { ErrorAnswer } from '../upstream-vendor.ts';
import { adviseAboutVertex } from './advise-about-vertex.ts';

/**
 * Words an error of the platform, which has Google's form on every path, in an array if a stream was requested. Errors
 * of a model have the form of its dialect, and so have those of Gemini.
 */
export function readVertexRefusal({ status, body, model }: ErrorAnswer, dialect: UpstreamDialectId): GatewayError | undefined {
  const parsed = parseIfJson(body);
  const error = googleErrorOf(parsed);
  if (error === undefined) return undefined;
  const message = textOf(error['message']) ?? '';
  const advice = advise(status, error, { message, model });
  if (advice !== undefined) return advice;
  return dialect === 'gemini-generate-content' ? undefined : decodeGoogleError(status, parsed);
}

/** The usual faults of a new set-up, with what the operator can do. */
function advise(
  status: number,
  error: JsonObject,
  { message, model }: { readonly message: string; readonly model: string },
): GatewayError | undefined {
  const reasons = objectsOf(error['details']).map(({ reason }) => reason);
  const says = adviseAboutVertex({ status, message, model }, reasons);
  if (says !== undefined && status !== 404)
    return new GatewayError(
      'upstream_credentials_rejected',
      "the model service rejects the gateway's credential; the operator must renew it",
      {
        internal: `${says} (${message.slice(0, 300)})`,
      },
    );
  if (status !== 404) return undefined;
  return new GatewayError('upstream_model_not_found', `model: the upstream has no ${model.slice(0, 200)}`, {
    param: 'model',
    internal: says ?? message.slice(0, 300),
  });
}
