import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

import type { ValidationMode } from '../../../dialects/dialect-id.ts';
import { type FormFile, readEditForm } from '../../../dialects/openai-images/read-edit-form.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import { confirmMediaType } from '../../../platform/http/media-type.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import { readBytes } from '../../admission/read-request.ts';
import type { GatewayLimits } from '../../settings/limits.ts';
import { namePathModel } from '../shared/name-path-model.ts';
import { type ExpectedForm, type ReceivedUpload, receiveUploads } from '../shared/receive-uploads.ts';
import type { UploadSpool } from '../shared/upload-spool.ts';
import { HeldUploads } from './held-uploads.ts';

type Receiving = {
  readonly request: IncomingMessage;
  readonly limits: GatewayLimits;
  readonly validation: ValidationMode;
  readonly admission: Pick<Admission, 'holdBytes'>;
  readonly spool: UploadSpool;
  readonly uploadBytesMax: number;
  /** The model that the path names. */
  readonly model: string | undefined;
};

/** The first bytes, which identify the format. */
const beginningBytes = 64;

const expectedForm: Omit<ExpectedForm, 'fileBytesMax'> = {
  // One more image than the interface allows, so that the refusal can name it.
  filesMax: 18,
  fieldBytesMax: 1024 * 1024,
  fieldsBytesMax: 2 * 1024 * 1024,
  isFile: (_name, filename) => filename !== undefined,
  refuseFile: () => undefined,
  // A part without a filename was decoded as text, which corrupts it.
  refuseField: (name) =>
    /^(?:image(?:\[\d{0,3}\])?|mask)$/.test(name) ? invalid(name, 'expected a file with a filename, such as image.png') : undefined,
  tooManyParts: () => invalid('image', 'the form has too many parts'),
};

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_value', `Invalid '${param}': ${problem}.`, { param });
}

/** Whether the body is a form, by its content type. */
export function isForm({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
}

/**
 * Receives a form with images. The caller of this function releases its uploads.
 * @throws GatewayError after it removed everything that it received
 */
export async function receiveEditForm(receiving: Receiving): Promise<{ readonly request: ImageRequest; readonly uploads: HeldUploads }> {
  const { request, admission, spool, validation, uploadBytesMax } = receiving;
  const source = await decodeForm(receiving);
  const expected = { ...expectedForm, fileBytesMax: uploadBytesMax };
  const { fields, files } = await receiveUploads({ request, admission, spool, expected, ...(source !== undefined && { source }) });
  const uploads = new HeldUploads(files);
  try {
    const named = [];
    for (const file of files) named.push({ ...(await describeFile(file)), content: uploads.bodyOf(file.upload) });
    return { request: readEditForm({ texts: namePathModel(fields, receiving.model), files: named }, validation), uploads };
  } catch (error) {
    uploads.end();
    throw error;
  }
}

/** Clients that stream a file rarely declare its type. Then its first bytes identify it. */
async function describeFile({ name, filename, declaredType, upload }: ReceivedUpload): Promise<Omit<FormFile, 'content'>> {
  const declared = (declaredType.split(';', 1)[0] ?? '').trim().toLowerCase();
  const isUnknown = declared === '' || declared === 'application/octet-stream';
  const mediaType = isUnknown ? (confirmMediaType('unknown', await upload.readAt(0, beginningBytes)) ?? declared) : declared;
  return { name, filename: filename === '' ? name : filename, mediaType };
}

/** A form with a content encoding is small, so it is decoded at once. */
async function decodeForm({ request, limits, admission }: Receiving): Promise<Readable | undefined> {
  if (request.headers['content-encoding'] === undefined) return undefined;
  const bytes = await readBytes(request, limits, (held) => admission.holdBytes(held));
  return Readable.from([bytes]);
}
