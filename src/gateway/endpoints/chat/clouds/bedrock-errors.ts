import type { ErrorVoice, HttpReply } from '../../../../dialects/error-voice.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { wordForConverse } from './converse/word-for-converse.ts';
import { membersOf, textOf } from '../../../../platform/json/json-readers.ts';
import { parseIfJson } from '../../../../platform/json/parse-if-json.ts';

/**
 * The exceptions of Bedrock by status.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html
 */
const exceptions: Readonly<Record<number, string | undefined>> = {
  401: 'UnrecognizedClientException',
  402: 'ServiceQuotaExceededException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  409: 'ConflictException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
};

/** Statuses that Bedrock does not use, and its own in their place. */
const statuses: Readonly<Record<number, number | undefined>> = { 401: 403, 413: 400, 502: 500, 504: 408, 529: 503 };

function exceptionOf(status: number): string {
  return (
    exceptions[status === 401 ? status : (statuses[status] ?? status)] ?? (status < 500 ? 'ValidationException' : 'InternalServerException')
  );
}

/**
 * An answer with an error of Messages in Bedrock's form: the message is the body, and the kind is a header.
 * @param word puts the message into the words of the client
 */
export function toBedrockError({ status, headers, body }: HttpReply, word = (message: string): string => message): HttpReply {
  const { error, message } = membersOf(parseIfJson(body));
  const text = textOf(membersOf(error)['message']) ?? textOf(message) ?? 'the request failed';
  return {
    status: statuses[status] ?? status,
    headers: { ...headers, 'content-type': 'application/json', 'x-amzn-errortype': exceptionOf(status) },
    body: Buffer.from(JSON.stringify({ message: word(text) })),
  };
}

/** The exceptions in streams by the type of the error event of Messages. */
const streamExceptions: Readonly<Record<string, string | undefined>> = {
  invalid_request_error: 'validationException',
  rate_limit_error: 'throttlingException',
  overloaded_error: 'serviceUnavailableException',
  timeout_error: 'modelTimeoutException',
};

/** The exception that ends a stream, from the data of an `error` event of Messages. */
export function readStreamException(data: string): { readonly type: string; readonly message: string } {
  const { type, message } = membersOf(membersOf(parseIfJson(Buffer.from(data)))['error']);
  return {
    type: streamExceptions[textOf(type) ?? ''] ?? 'internalServerException',
    message: textOf(message) ?? 'the stream failed',
  };
}

const { voice: messagesVoice } = chatDialects['anthropic-messages'];

type PathVoice = Pick<ErrorVoice, 'encodeError' | 'encodeStreamError' | 'heartbeat' | 'rateLimitHeaders'>;

function voiceOf(word?: (message: string) => string): PathVoice {
  return {
    ...messagesVoice,
    encodeError: (error, requestId) => {
      const reply = toBedrockError(messagesVoice.encodeError(error, requestId), word);
      return { ...reply, headers: { ...reply.headers, 'x-amzn-requestid': requestId } };
    },
  };
}

const invokeVoice = voiceOf();
const converseVoice = voiceOf(wordForConverse);

/** How errors on a path of Bedrock are written before a reply begins. */
export function bedrockVoiceAt(path: string): PathVoice {
  return /\/converse(?:-stream)?\/?$/.test(path) ? converseVoice : invokeVoice;
}
