/**
 * How much of the prompts and replies of a key's calls is recorded. `off`: nothing. `masked`: the text without
 * credentials, addresses and numbers of people. `full`: the text as it is. From the least to the most.
 */
export const contentModes = ['off', 'masked', 'full'] as const;

export type ContentMode = (typeof contentModes)[number];

export function isContentMode(value: unknown): value is ContentMode {
  return contentModes.some((mode) => mode === value);
}

/**
 * The mode of a key's calls: its own choice, else that of its user's team, else `off`, and never more than the ceiling.
 */
export function contentModeOf(
  { content, team }: { readonly content?: ContentMode; readonly team?: { readonly content?: ContentMode } },
  ceiling: ContentMode,
): ContentMode {
  const chosen = content ?? team?.content ?? 'off';
  return contentModes.indexOf(chosen) <= contentModes.indexOf(ceiling) ? chosen : ceiling;
}
