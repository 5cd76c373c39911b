/** Paths of OpenAI's audio interface. One that is absent is not there. */
export type AudioPaths = { readonly speech?: string; readonly transcriptions?: string; readonly translations?: string };
