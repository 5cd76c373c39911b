import type { OperatorRefusal } from '../upstream-vendor.ts';

/**
 * What to do about the faults of a new set-up at Vertex AI. Undefined for all others. @param reasons those of the error
 * body
 */
export function adviseAboutVertex(
  { status, message, model }: Pick<OperatorRefusal, 'status' | 'message' | 'model'>,
  reasons: readonly unknown[] = [],
): string | undefined {
  if (reasons.includes('ACCESS_TOKEN_TYPE_UNSUPPORTED') || /API keys are not supported by this API/i.test(message))
    return 'this path does not accept API keys: set credential: { kind: google } and project';
  if (reasons.includes('SERVICE_DISABLED') || /has not been used in project|it is disabled/i.test(message))
    return 'the Vertex AI API is not enabled in the project: gcloud services enable aiplatform.googleapis.com';
  if (status === 403 && /aiplatform\.endpoints\.predict/.test(message))
    return 'the identity lacks the role roles/aiplatform.user in the project';
  if (status === 404 && /publisher model/i.test(message))
    return `${model} is not available in this location and project: enable it in the Model Garden, or use location: global`;
  return undefined;
}
