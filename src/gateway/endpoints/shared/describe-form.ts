import type { FormField } from './receive-uploads.ts';

type DescribedFile = { readonly name: string; readonly filename: string; readonly upload: { readonly bytes: number } };

/** A form as JSON for a recording: its fields, and the names and sizes of its files instead of their bytes. */
export function describeForm(fields: readonly FormField[], files: readonly DescribedFile[]): Buffer {
  return Buffer.from(
    JSON.stringify({
      ...Object.fromEntries(fields.map(({ name, value }) => [name, value])),
      files: files.map(({ name, filename, upload }) => ({ name, filename, bytes: upload.bytes })),
    }),
  );
}
