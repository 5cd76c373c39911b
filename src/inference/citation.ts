/**
 * A source that generated text names. Offsets are Unicode code points within the text of its block, `end` exclusive; they are absent in
 * dialects where the block itself is the cited span.
 */
export type Citation = {
  readonly start?: number;
  readonly end?: number;
  /** The words of the source. */
  readonly citedText?: string;
  readonly title?: string;
  readonly source:
    | { readonly kind: 'url'; readonly url: string }
    /** A document of the request: by its place among them, or by a vendor's file id. `locator` says where in it, in words: "page 3". */
    | { readonly kind: 'document'; readonly index?: number; readonly fileId?: string; readonly locator?: string };
};
