import { isJsonObject } from '../../../platform/json/json-value.ts';
import { readTarget } from './read-target.ts';
import { writeGo } from './write-go.ts';
import { writeSocket } from './write-socket.ts';

/** A request of the playground as lines that make it elsewhere. Their key is a variable, never a secret. */
export type Snippets = {
  /** Undefined for a message of a WebSocket. */
  readonly curl: string | undefined;
  /** For a message of a WebSocket alone. */
  readonly websocat: string | undefined;
  /** With Go's own HTTP client; undefined for a form, which Go writes part by part. */
  readonly go: string | undefined;
  /** With the official SDK of the interface; undefined if it has none. */
  readonly python: string | undefined;
  readonly typescript: string | undefined;
};

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Body = Readonly<Record<string, Json>>;

/** The request of a snippet. Of a form, members that name files are their names. */
export type SnippetRequest = {
  readonly address: string;
  readonly method: string;
  readonly target: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Whether it is a message of a WebSocket. */
  readonly isMessage?: boolean;
};

/** The lines for a request. Undefined if its target is not a plain path: see readTarget. */
export function writeSnippets({ address, method, target, body: given, isMessage = false }: SnippetRequest): Snippets | undefined {
  const read = readTarget(target);
  if (read === undefined) return undefined;
  // It was parsed from JSON.
  const body = given as Body | undefined;
  const { path } = read;
  if (isMessage) return { curl: undefined, go: undefined, ...writeSocket(address, path, body ?? {}, variable) };
  const request = { address, method, path, query: read.query, body };
  const call = method === 'POST' && body !== undefined ? findCall(path, body) : undefined;
  return {
    curl: writeCurl(request),
    websocat: undefined,
    go: isForm(path) ? undefined : writeGo(request),
    python: call === undefined ? undefined : writePython(address, call),
    typescript: call === undefined ? undefined : writeTypescript(address, call),
  };
}

const quoteShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Members of forms that name files. */
const fileMembers: ReadonlySet<string> = new Set(['file', 'image', 'mask', 'input_reference']);
const isForm = (path: string): boolean => /^\/v1\/(?:audio\/(?:transcriptions|translations)|images\/edits|files)$/.test(path);

function writeCurl({
  address,
  method,
  path,
  query,
  body,
}: { readonly path: string; readonly query: string; readonly body: Body | undefined } & Pick<
  SnippetRequest,
  'address' | 'method'
>): string {
  const lines = [`curl -sS${body?.['stream'] === true || query.includes('alt=sse') ? 'N' : ''} ${quoteShell(address + path + query)}`];
  if (method !== (body === undefined ? 'GET' : 'POST')) lines.push(`-X ${method}`);
  lines.push(path.startsWith('/v1/messages') ? '-H "x-api-key: $WEIR_API_KEY"' : '-H "authorization: Bearer $WEIR_API_KEY"');
  if (path.startsWith('/v1/messages')) lines.push("-H 'anthropic-version: 2023-06-01'");
  if (body !== undefined && isForm(path))
    for (const [name, value] of Object.entries(body))
      lines.push(
        `-F ${quoteShell(`${name}=${fileMembers.has(name) ? '@' : ''}${typeof value === 'string' ? value : JSON.stringify(value)}`)}`,
      );
  else if (body !== undefined) lines.push("-H 'content-type: application/json'", `-d ${quoteShell(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}

type Sdk = 'anthropic' | 'openai' | 'genai';
type Call = {
  readonly sdk: Sdk;
  /** The method of the client, in TypeScript; Python has its words with underscores. */
  readonly method: string;
  readonly body: Body;
  readonly way: 'whole' | 'stream' | 'audio';
};

/** The methods of the official SDKs, by their paths. */
const methods: Readonly<Record<string, readonly [Sdk, string]>> = {
  '/v1/messages': ['anthropic', 'messages.create'],
  '/v1/messages/count_tokens': ['anthropic', 'messages.countTokens'],
  '/v1/responses': ['openai', 'responses.create'],
  '/v1/chat/completions': ['openai', 'chat.completions.create'],
  '/v1/embeddings': ['openai', 'embeddings.create'],
  '/v1/moderations': ['openai', 'moderations.create'],
  '/v1/images/generations': ['openai', 'images.generate'],
  '/v1/images/edits': ['openai', 'images.edit'],
  '/v1/audio/speech': ['openai', 'audio.speech.create'],
  '/v1/audio/transcriptions': ['openai', 'audio.transcriptions.create'],
  '/v1/audio/translations': ['openai', 'audio.translations.create'],
};

function findCall(path: string, body: Body): Call | undefined {
  const generate = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(path);
  if (generate !== null) {
    const [, model = '', action] = generate;
    const { contents = [], generationConfig, ...others } = body;
    const config = { ...(isJsonObject(generationConfig) ? generationConfig : {}), ...others };
    const named = { model: decodeURIComponent(model), contents, ...(Object.keys(config).length > 0 && { config }) };
    const isStream = action === 'streamGenerateContent';
    return {
      sdk: 'genai',
      method: isStream ? 'models.generateContentStream' : 'models.generateContent',
      body: named,
      way: isStream ? 'stream' : 'whole',
    };
  }
  const found = Object.hasOwn(methods, path) ? methods[path] : undefined;
  if (found === undefined) return undefined;
  const [sdk, method] = found;
  return { sdk, method, body, way: body['stream'] === true ? 'stream' : path === '/v1/audio/speech' ? 'audio' : 'whole' };
}

/** The variable as the snippet reads it; this program does not. */
const variable = ['process', 'env', 'WEIR_API_KEY'].join('.');

const typescriptClients: Readonly<Record<Sdk, (address: string) => string>> = {
  anthropic: (address) =>
    `import Anthropic from '@anthropic-ai/sdk';\n\nconst client = new Anthropic({ baseURL: ${JSON.stringify(address)}, apiKey: ${variable} });`,
  openai: (address) =>
    `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: ${JSON.stringify(`${address}/v1`)}, apiKey: ${variable} });`,
  genai: (address) =>
    `import { GoogleGenAI } from '@google/genai';\n\nconst client = new GoogleGenAI({ apiKey: ${variable}, httpOptions: { baseUrl: ${JSON.stringify(address)} } });`,
};

function writeTypescript(address: string, { sdk, method, body, way }: Call): string {
  const files = isFormCall(method) ? fileMembers : new Set<string>();
  const members = Object.entries(body).map(([name, value]) => {
    const written = files.has(name) ? `createReadStream(${JSON.stringify(value)})` : indent(JSON.stringify(value, null, 2));
    return `  ${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}: ${written},`;
  });
  const opening =
    files.size > 0
      ? "import { createReadStream } from 'node:fs';\n\n"
      : way === 'audio'
        ? "import { writeFile } from 'node:fs/promises';\n\n"
        : '';
  const call = `await client.${method}({\n${members.join('\n')}\n})`;
  const endings = {
    whole: `console.log(${call});`,
    stream: `for await (const event of ${call}) console.log(event);`,
    audio: `const speech = ${call};\nawait writeFile('speech.audio', Buffer.from(await speech.arrayBuffer()));`,
  };
  return `${opening}${typescriptClients[sdk](address)}\n${endings[way]}\n`;
}

const indent = (text: string): string => text.replaceAll('\n', '\n  ');
const isFormCall = (method: string): boolean => /^(?:audio\.trans|images\.edit)/.test(method);

const pythonClients: Readonly<Record<Sdk, (address: string) => string>> = {
  anthropic: (address) =>
    `import os\n\nfrom anthropic import Anthropic\n\nclient = Anthropic(base_url=${JSON.stringify(address)}, api_key=os.environ["WEIR_API_KEY"])`,
  openai: (address) =>
    `import os\n\nfrom openai import OpenAI\n\nclient = OpenAI(base_url=${JSON.stringify(`${address}/v1`)}, api_key=os.environ["WEIR_API_KEY"])`,
  genai: (address) =>
    `import os\n\nfrom google import genai\nfrom google.genai import types\n\nclient = genai.Client(api_key=os.environ["WEIR_API_KEY"], http_options=types.HttpOptions(base_url=${JSON.stringify(address)}))`,
};

function writePython(address: string, { sdk, method, body, way }: Call): string {
  const files = isFormCall(method) ? fileMembers : new Set<string>();
  const name = method.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const written = (member: string, value: Json): string =>
    files.has(member) ? `open(${JSON.stringify(value)}, "rb")` : writePythonValue(value, '    ');
  const isName = (member: string): boolean => /^[A-Za-z_]\w*$/.test(member) && !pythonWords.has(member);
  const named = Object.entries(body).filter(([member]) => isName(member));
  const others = Object.entries(body).filter(([member]) => !isName(member));
  const members = named.map(([member, value]) => `    ${member}=${written(member, value)},`);
  // A name that cannot be an argument is one of a dictionary.
  if (others.length > 0) members.push(`    **${writePythonValue(Object.fromEntries(others), '    ')},`);
  const call = `client.${name}(\n${members.join('\n')}\n)`;
  const endings = {
    whole: `print(${call})`,
    stream: `for event in ${call}:\n    print(event)`,
    audio: `${call}.write_to_file("speech.audio")`,
  };
  return `${pythonClients[sdk](address)}\n${endings[way]}\n`;
}

const pythonWords: ReadonlySet<string> = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

/** A JSON value as Python writes it: only its constants have other names. */
function writePythonValue(value: Json, margin: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${margin}    `;
  const isList = Array.isArray(value);
  const parts = isList
    ? (value as readonly Json[]).map((part) => writePythonValue(part, inner))
    : Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${writePythonValue(part, inner)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return parts.length === 0 ? open + close : `${open}\n${parts.map((part) => `${inner}${part},`).join('\n')}\n${margin}${close}`;
}
