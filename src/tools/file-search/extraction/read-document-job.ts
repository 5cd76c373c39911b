import { readDocx } from './read-documents.ts';
import { cleanText } from './read-text.ts';

/** Reads the text of a Word document. Runs in threads only. */
export async function run({ bytes }: { readonly bytes: Uint8Array }): Promise<string> {
  return cleanText(await readDocx(bytes));
}
