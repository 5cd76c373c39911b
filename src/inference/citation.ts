/**
 * A source that a generated text cites. Offsets are Unicode code points in the text of its block; `end` is exclusive.
 * They are absent in dialects where the whole block is the cited span.
 */
export type Citation = {
  readonly start?: number;
  readonly end?: number;
  /** The cited text of the source. */
  readonly citedText?: string;
  readonly title?: string;
  readonly source:
    | { readonly kind: 'url'; readonly url: string }
    /**
     * A document of the request: its index among the documents, or a vendor's file id. `locator` is the place in it, as
     * text: "page 3".
     */
    | { readonly kind: 'document'; readonly index?: number; readonly fileId?: string; readonly locator?: string };
};
