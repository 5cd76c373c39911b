import { GatewayError } from '../../../inference/gateway-error.ts';
import type { VideoForm } from '../../../inference/video.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { scanJson } from '../../../platform/json/scan-json.ts';
import type { ValidationMode } from '../../dialect-id.ts';
import { type ReadVideo, readVideoRequest, type VideoWire } from '../read-video-request.ts';

type WireOptions = { readonly form?: VideoForm; readonly mode?: ValidationMode } & Pick<VideoWire, 'action' | 'source'>;

/** Reads a request as the gateway does, after a scan. A text is used unchanged; an object gets a model and a prompt. */
export function read(body: string | Readonly<Record<string, unknown>>, options: WireOptions = {}): ReadVideo {
  const { form = 'video-generations', mode = 'compatible', ...rest } = options;
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify({ model: 'm', prompt: 'p', ...body }));
  scanJson(bytes);
  return readVideoRequest({ form, bytes, body: parseJsonObject(bytes) ?? {}, ...rest }, mode);
}

/** Returns code, field and message of a refusal. */
export function refusalOf(run: () => unknown): { readonly code: string; readonly param: string | undefined; readonly message: string } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { code: error.code, param: error.param, message: error.message };
  }
  throw new Error('the request was not refused');
}
