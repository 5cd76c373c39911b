import type { DialectId } from '../../src/dialects/dialect-id.ts';

/** One chat interface as a plain client sees it: its path, a minimal request, the format of its errors. */
export type ChatInterface = {
  readonly dialect: DialectId;
  readonly path: (model: string, stream?: boolean) => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  readonly body: (model: string, text: string, stream?: boolean) => Record<string, unknown>;
  /** The machine-readable value of an error body. */
  readonly errorType: (body: any) => unknown;
  readonly unknownModelStatus: number;
  /** The end of a complete stream of this interface. */
  readonly terminal: RegExp;
  /** The end of a broken stream of this interface. */
  readonly errorEvent: RegExp;
};

const generateContent = {
  dialect: 'gemini-generate-content',
  headers: {},
  model: 'gemini-2.5-flash',
  body: (_model: string, text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  errorType: (body: any) => body?.error?.status,
  unknownModelStatus: 404,
  terminal: /"finishReason"/,
  errorEvent: /\{"error":\{"code":\d{3}/,
} as const;

export const chatInterfaces: readonly ChatInterface[] = [
  {
    dialect: 'anthropic-messages',
    path: () => '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    model: 'claude-sonnet-4-5',
    body: (model, text, stream) => ({
      model,
      max_tokens: 500,
      messages: [{ role: 'user', content: text }],
      ...(stream === true ? { stream } : {}),
    }),
    errorType: (body) => body?.error?.type,
    unknownModelStatus: 404,
    terminal: /"type":\s*"message_stop"/,
    errorEvent: /^event: error\r?\ndata: \{"type":"error"/m,
  },
  {
    dialect: 'openai-responses',
    path: () => '/v1/responses',
    headers: {},
    model: 'gpt-5-mini',
    body: (model, text, stream) => ({ model, input: text, ...(stream === true ? { stream } : {}) }),
    errorType: (body) => body?.error?.type,
    unknownModelStatus: 400,
    terminal: /^event: response\.completed/m,
    errorEvent: /^event: response\.failed/m,
  },
  {
    dialect: 'openai-chat',
    path: () => '/v1/chat/completions',
    headers: {},
    model: 'gpt-4.1',
    body: (model, text, stream) => ({ model, messages: [{ role: 'user', content: text }], ...(stream === true ? { stream } : {}) }),
    errorType: (body) => body?.error?.type,
    unknownModelStatus: 404,
    terminal: /^data: \[DONE\]/m,
    errorEvent: /^data: \{"error":\{/m,
  },
  {
    ...generateContent,
    path: (model, stream) => `/v1beta/models/${model}:${stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  },
];

/** The streamed JSON array of generate-content without `alt=sse`. */
export const arrayInterface: ChatInterface = {
  ...generateContent,
  path: (model, stream) => `/v1beta/models/${model}:${stream === true ? 'streamGenerateContent' : 'generateContent'}`,
};
