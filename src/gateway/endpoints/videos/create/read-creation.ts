import { encodeMultipartAsJson } from '../../../../dialects/video-tasks/read-multipart.ts';
import { type ReadVideo, readVideoRequest, type VideoWire } from '../../../../dialects/video-tasks/read-video-request.ts';
import type { VideoForm } from '../../../../inference/video.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { readJsonObject, readRequest, type ReadRequest } from '../../../admission/read-request.ts';
import type { VideoContext } from '../video-context.ts';
import { isForm, readForm } from './read-form.ts';

/** The interface of a path. */
export type CreationPath = {
  /** `by-content`: the path is an alias of two interfaces. */
  readonly form: VideoForm | 'by-content';
  readonly action?: VideoWire['action'];
  readonly source?: VideoWire['source'];
};

/** Fields of the contract's own request that OpenAI's does not have. */
const contractFields = ['duration', 'image', 'images', 'metadata'] as const;

/**
 * The interface of a request to `POST /v1/videos`. The path is OpenAI's, whose clients send forms, and an alias of the
 * contract's. JSON with a field that only the contract has is the contract's.
 */
export function formOf(path: CreationPath, body: JsonObject, isMultipart: boolean): VideoForm {
  if (path.form !== 'by-content') return path.form;
  return !isMultipart && contractFields.some((field) => Object.hasOwn(body, field)) ? 'video-generations' : 'openai-videos';
}

/**
 * Reads a video request, in JSON or as a form.
 * @throws GatewayError
 */
export async function readCreation(context: VideoContext, path: CreationPath): Promise<ReadVideo> {
  const { request, settings } = context;
  const isMultipart = isForm(request.headers['content-type']);
  const { bytes, body } = isMultipart ? await readMultipart(context) : await readJson(context);
  const { action, source } = path;
  const form = formOf(path, body, isMultipart);
  const wire = { form, bytes, body, ...(action === undefined ? {} : { action }), ...(source === undefined ? {} : { source }) };
  return readVideoRequest(wire, settings.validation);
}

async function readJson({ request, settings, admission }: VideoContext): Promise<ReadRequest> {
  const read = await readRequest(request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(read.bytes.length);
  return read;
}

async function readMultipart({ request, settings, admission, signal }: VideoContext): Promise<ReadRequest> {
  const form = await readForm(request, { admission, bytesMax: settings.limits.requestBytesMax, signal });
  const bytes = encodeMultipartAsJson(form);
  return { bytes, body: await readJsonObject(bytes, settings.limits) };
}
