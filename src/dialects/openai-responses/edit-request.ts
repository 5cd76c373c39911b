import type { JsonEdit } from '../../platform/json/json-edits.ts';
import { locateJson } from '../../platform/json/locate-json.ts';
import type { TargetFit, WireRequest } from '../chat-dialect.ts';

/** The body names the model; that is all a target may want otherwise. */
export function editRequest({ body }: WireRequest, bytes: Buffer, fit: TargetFit): readonly JsonEdit[] {
  if (body.model === fit.upstreamModel) return [];
  const span = locateJson(bytes, ['model']);
  return span === undefined ? [] : [{ ...span, replacement: JSON.stringify(fit.upstreamModel) }];
}
