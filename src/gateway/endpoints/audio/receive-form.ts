import type { IncomingMessage } from 'node:http';

import { invalidField, missingField } from '../../../dialects/openai-audio/audio-errors.ts';
import { type AudioContainer, checkUploadedAudio, sniffedBytes } from '../../../dialects/openai-audio/sniff-audio.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import { namePathModel } from '../shared/name-path-model.ts';
import { type ExpectedForm, type FormField, type ReceivedUpload, receiveUploads } from '../shared/receive-uploads.ts';
import type { UploadSpool } from '../shared/upload-spool.ts';

/** The file of a form: its position among the fields, its name and its type. */
export type FormFile = Omit<ReceivedUpload, 'name'> & { readonly container: AudioContainer };

/** A received form with its fields in order. */
export type ReceivedForm = { readonly fields: readonly FormField[]; readonly file: FormFile };

type Receiving = {
  readonly request: IncomingMessage;
  readonly signal: AbortSignal;
  readonly admission: Pick<Admission, 'holdBytes'>;
  readonly spool: UploadSpool;
  readonly uploadBytesMax: number;
  /** The model that the path names. */
  readonly model: string | undefined;
};

const expectedForm: Omit<ExpectedForm, 'fileBytesMax'> = {
  filesMax: 1,
  // Samples of speakers' voices are fields: ten seconds of audio in base64.
  fieldBytesMax: 4 * 1024 * 1024,
  fieldsBytesMax: 16 * 1024 * 1024,
  // A file without a filename would be decoded as text, which corrupts it.
  isFile: (name, filename) => name === 'file' || filename !== undefined,
  refuseFile: (name, filesBefore) =>
    name === 'file' && filesBefore === 0 ? undefined : invalidField(name, "Expected exactly one file, in the field 'file'."),
  refuseField: () => undefined,
  tooManyParts: () => invalidField('file', 'The form has too many parts, or more than one file.'),
};

/**
 * Receives a form with a recording.
 * @throws GatewayError after it removed everything that it received
 */
export async function receiveForm({ uploadBytesMax, model, ...receiving }: Receiving): Promise<ReceivedForm> {
  const { fields, files } = await receiveUploads({ ...receiving, expected: { ...expectedForm, fileBytesMax: uploadBytesMax } });
  const [file] = files;
  if (file === undefined) throw missingField('file');
  try {
    return { fields: namePathModel(fields, model), file: await describeFile(file) };
  } catch (error) {
    await file.upload.discard();
    throw error;
  }
}

async function describeFile({ place, filename, declaredType, upload }: ReceivedUpload): Promise<FormFile> {
  if (filename === '')
    throw new GatewayError(
      'invalid_media',
      "The part 'file' has no filename: an audio file with a name such as 'speech.mp3' is expected.",
      {
        param: 'file',
      },
    );
  const head = await upload.readAt(0, sniffedBytes);
  const container = checkUploadedAudio({ filename, declaredType, head, bytes: upload.bytes });
  return { place, filename, declaredType, container, upload };
}
