import type { Reply } from '../../api/client.ts';

type Draft = Reply<'price_drafts.get'>;

/** A draft, with the version that a change of it must name. */
export type DraftProps = { readonly draft: Draft; readonly version: string | undefined };
