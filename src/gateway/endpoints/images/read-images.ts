import type { IncomingMessage } from 'node:http';

import type { ValidationMode } from '../../../dialects/dialect-id.ts';
import { readEditForm } from '../../../dialects/openai-images/read-edit-form.ts';
import { readEditRequest, readGenerationRequest } from '../../../dialects/openai-images/read-image-request.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { readBytes, readRequest } from '../../admission/read-request.ts';
import type { GatewayLimits } from '../../settings/limits.ts';
import { parseForm } from './parse-form.ts';

/** The last part of the path. */
export type ImageRoute = 'generations' | 'edits';

/** Checks a body and reads it. @throws GatewayError that names the field */
export function readImages(body: JsonObject, route: ImageRoute, mode: ValidationMode): ImageRequest {
  return route === 'edits' ? readEditRequest(body, mode) : readGenerationRequest(body, mode);
}

type Reading = {
  readonly request: IncomingMessage;
  readonly route: ImageRoute;
  readonly limits: GatewayLimits;
  readonly validation: ValidationMode;
  /** Whether this process has room for so much of the body. */
  readonly holdBytes: (bytes: number) => boolean;
};

/** Reads a request as it comes from a client: JSON, or for edits a form with the pictures. @throws GatewayError */
export async function receiveImages({ request, route, limits, validation, holdBytes }: Reading): Promise<ImageRequest> {
  const contentType = request.headers['content-type'];
  if (route === 'edits' && contentType !== undefined && /^multipart\/form-data\b/i.test(contentType)) {
    const bytes = await readBytes(request, limits, holdBytes);
    holdBytes(bytes.length);
    return readEditForm(await parseForm(bytes, contentType), validation);
  }
  const { bytes, body } = await readRequest(request, limits, holdBytes);
  holdBytes(bytes.length);
  return readImages(body, route, validation);
}
