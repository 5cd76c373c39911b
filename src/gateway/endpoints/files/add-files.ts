import type { Attributes, Chunking } from '../../../tools/file-search/file-objects.ts';
import { type FilesContext, notFound } from './files-context.ts';

/** A file that is added to a vector store. */
export type AddedFile = { readonly fileId: string; readonly attributes: Attributes; readonly chunking: Chunking };

/**
 * Adds files to a vector store and schedules their indexing.
 * @throws GatewayError for a store or file that the caller does not have
 */
export async function addFiles(
  { files, caller, gateway }: FilesContext,
  add: { readonly storeId: string; readonly batchId?: string; readonly added: readonly AddedFile[]; readonly param: string },
): Promise<void> {
  const { storeId, batchId, added, param } = add;
  const missing = await files.store.addStoreFiles({
    userName: caller.userName,
    storeId,
    batchId,
    files: added,
    nowMs: gateway.clock.nowMs(),
  });
  if (missing === 'no-store') throw notFound('vector store', storeId);
  const [first] = missing;
  if (first !== undefined) throw notFound('file', first, param);
  files.filesAdded();
}
