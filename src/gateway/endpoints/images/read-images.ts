import type { ValidationMode } from '../../../dialects/dialect-id.ts';
import { readEditRequest, readGenerationRequest } from '../../../dialects/openai-images/read-image-request.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** The last segment of the path. */
export type ImageRoute = 'generations' | 'edits';

/** Validates and decodes a body. @throws GatewayError that names the field */
export function readImages(body: JsonObject, route: ImageRoute, mode: ValidationMode): ImageRequest {
  return route === 'edits' ? readEditRequest(body, mode) : readGenerationRequest(body, mode);
}
