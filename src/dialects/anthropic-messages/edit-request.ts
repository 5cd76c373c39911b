import type { JsonEdit } from '../../platform/json/json-edits.ts';
import { locateIn } from '../../platform/json/indexed-object.ts';
import type { TargetFit } from '../chat-dialect.ts';
import type { WireRequest } from '../wire-request.ts';

/** Edits a validated Messages body for its target: only the model name, if the target uses another. */
export function editRequest({ body }: WireRequest, bytes: Buffer, fit: TargetFit): readonly JsonEdit[] {
  if (fit.upstreamModel === fit.requestedModel) return [];
  const model = locateIn(body, bytes, ['model']);
  if (model === undefined) throw new TypeError('the body of a validated request has no model');
  return [{ ...model, replacement: JSON.stringify(fit.upstreamModel) }];
}
