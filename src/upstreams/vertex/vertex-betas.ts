/**
 * Beta flags of Claude that Vertex AI accepts. It refuses a request with a flag that it does not know. Sources: the
 * list that Envoy's AI gateway probed, LiteLLM's list for Vertex AI, and the issues LiteLLM#18241, #15299 and #39597
 * (2026). No flag was tried against Vertex AI itself.
 */
export const acceptedBetas: ReadonlySet<string> = new Set([
  'compact-2026-01-12',
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'model-context-window-exceeded-2025-08-26',
  'output-128k-2025-02-19',
  'search-results-2025-06-09',
  'token-efficient-tools-2025-02-19',
  'tool-search-tool-2025-10-19',
  'web-search-2025-03-05',
]);

/** Flags that have another name there. */
export const renamedBetas: Readonly<Record<string, string | undefined>> = {
  'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19',
};
