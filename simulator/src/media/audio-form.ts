import type { JsonRecord } from '../simulated-vendor.ts';

/** A received form: texts by field, in order, and the first file of the field `file`. */
export type AudioForm = {
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> } | undefined;
};

const keptCharacters = 1_000;

/** Reads multipart/form-data. Undefined for anything else and for a broken form. */
export async function readAudioForm(contentType: string, bytes: Buffer): Promise<AudioForm | undefined> {
  if (!/^multipart\/form-data\s*;/i.test(contentType)) return undefined;
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
  } catch {
    return undefined;
  }
  const texts = new Map<string, string[]>();
  let file: AudioForm['file'];
  for (const [name, value] of form) {
    if (typeof value === 'string') texts.set(name, [...(texts.get(name) ?? []), value]);
    else if (name === 'file') file ??= { name: value.name, type: value.type, bytes: new Uint8Array(await value.arrayBuffer()) };
  }
  return { texts, file };
}

/**
 * A form in the record of calls: texts cut to 1,000 characters, one or a list; the file as its name, type and length.
 */
export function describeForm({ texts, file }: AudioForm): JsonRecord {
  const fields: JsonRecord = {};
  for (const [name, values] of texts) {
    const cut = values.map((value) => value.slice(0, keptCharacters));
    fields[name] = cut.length === 1 ? cut[0] : cut;
  }
  if (file !== undefined) fields['file'] = { name: file.name, type: file.type, bytes: file.bytes.length };
  return fields;
}
