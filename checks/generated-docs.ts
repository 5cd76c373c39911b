import { errorCodes, type ErrorCode } from '../src/inference/gateway-error.ts';
import { environmentVariables } from '../src/main/environment.ts';
import { configSchema } from '../src/main/config/config-schema.ts';
import { gatewayOpenApi } from '../src/gateway/server/routes/open-api.ts';
import { adminOpenApi } from '../src/admin/open-api.ts';
import { operations } from '../src/admin/resources/registry.ts';
import { monitorOpenApi } from '../src/monitor/open-api.ts';
import { writeConsoleRoutes, writeConsoleTypes } from './console-types.ts';
import { readMetricTable } from './dashboards/metric-table.ts';
import { writeObservabilityFiles } from './dashboards/observability-files.ts';
import { errorMeanings, errorSections } from './error-meanings.ts';
import { writeLogsPage } from './logs-page.ts';
import { writeTimeoutsPage } from './timeouts-page.ts';

const note = '<!-- Written by `npm run docs` from the code. Do not edit. -->';

type SchemaNode = {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
};

function describeType(node: SchemaNode): string {
  if (node.enum !== undefined) return node.enum.map((value) => `\`${showValue(value)}\``).join(', ');
  if (node.anyOf !== undefined) return node.anyOf.map(describeType).join(' or ');
  if (node.type === 'array' && node.items !== undefined) return `list of ${describeType(node.items)}`;
  return node.type ?? '';
}

const showValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Every field of the configuration with its path, in file order. Names that the operator chooses appear as `<name>`.
 */
function configRows(node: SchemaNode, path: string): readonly string[] {
  const rows: string[] = [];
  for (const [name, member] of Object.entries(node.properties ?? {})) {
    const here = path === '' ? name : `${path}.${name}`;
    const fallback = member.default === undefined ? '' : `\`${showValue(member.default)}\``;
    rows.push(`| \`${here}\` | ${describeType(member)} | ${fallback} | ${member.description ?? ''} |`);
    rows.push(...configRows(member, here));
  }
  for (const member of Object.values(node.patternProperties ?? {})) {
    rows.push(`| \`${path}.<name>\` | ${describeType(member)} | | ${member.description ?? ''} |`, ...configRows(member, `${path}.<name>`));
  }
  for (const form of node.anyOf ?? []) rows.push(...configRows(form, path));
  if (node.items?.properties !== undefined) rows.push(...configRows(node.items, `${path}[]`));
  return rows;
}

function configPage(): string {
  return [
    '# Configuration',
    '',
    note,
    '',
    'The file is `weir.yaml` in the working directory, or the file that `WEIR_CONFIG` names. Every field is optional.',
    'Unknown fields are refused.',
    '',
    '- `${NAME}` in a value is replaced by that environment variable, `${NAME:-fallback}` by the fallback if it is unset.',
    '  `$${` is a literal `${`.',
    '- The file is read again within a second after it changes, and on SIGHUP. If it is wrong, position and reason are',
    '  logged, and the last good configuration stays in force. `weir config check` finds such problems before.',
    '',
    '| Field | Type | Default | Meaning |',
    '|---|---|---|---|',
    ...configRows(configSchema, ''),
    '',
    '## Environment variables',
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...environmentVariables.map(({ name, fallback, meaning }) => `| \`${name}\` | ${fallback} | ${meaning} |`),
    '',
    'If a variable is unset and one with `_FILE` after its name is set, the value is the text of that file, without its last',
    'line break: `OPENAI_API_KEY_FILE=/run/secrets/openai`. This holds for variables in the configuration file too. A changed',
    'file counts when the configuration is read again.',
    '',
    'Vendor keys (`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or `GOOGLE_API_KEY`, `XAI_API_KEY`) configure the',
    'real vendors if the file names no upstream.',
    '',
  ].join('\n');
}

function errorsPage(): string {
  const rowOf = (code: ErrorCode): string =>
    `| \`${code}\` | ${errorCodes[code].status} | ${errorCodes[code].class} | ${errorMeanings[code]} |`;
  const sections = errorSections.flatMap(({ title, introduction, codes }) => [
    `## ${title}`,
    '',
    introduction,
    '',
    '| Code | Status | Class | Meaning and remedy |',
    '|---|---|---|---|',
    ...codes.map(rowOf),
    '',
  ]);
  return [
    '# Errors',
    '',
    note,
    '',
    'Weir is a gateway: a program (the *client*) sends it a request for a model, with an API key of Weir. Weir forwards the',
    'request to a model vendor or to a self-hosted model server (the *upstream*). A model can have several *targets*, which',
    'are models at upstreams. The *caller* is the owner of the API key, and the *operator* runs the gateway.',
    '',
    'This page lists the errors that Weir itself returns. An error of an upstream passes with its own status, body and',
    '`retry-after`.',
    '',
    '## Format',
    '',
    'Each error has a stable code, an HTTP status, and a message. The body has the format of the interface that the client',
    'uses:',
    '',
    '- Messages: `{type, error: {type, message, code}, request_id}`',
    '- Responses and chat completions: `{error: {message, type, param, code}}`',
    '- generate-content: `{error: {code, message, status, details}}`',
    '',
    'In Responses and chat completions `error.code` is the code of the vendor, OpenAI, if it has one for the case (for',
    'example `missing_required_parameter`). An unknown model has status 400 in Responses, as at the vendor.',
    '',
    'If a stream has already begun, the error is an event of the stream, and the stream ends after it. Every answer has the',
    'header `x-weir-request-id`, by which the operator finds the call in the log.',
    '',
    ...sections,
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}

function metricsPage(): string {
  const metrics = readMetricTable();
  const rows = metrics.map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  );
  const bounds = metrics.flatMap(({ name, bounds: own }) => (own === undefined ? [] : [`| \`${name}\` | ${own.join(', ')} |`]));
  return [
    '# Metrics',
    '',
    note,
    '',
    '`GET /metrics` returns these metrics ([how to turn it on](../guide/observe.md)).',
    '',
    "- Names that begin with `gen_ai_` are those of OpenTelemetry's conventions for generative AI, which are still in",
    '  development, in the spelling of Prometheus.',
    '- A model is a label only under a name that the gateway lists, otherwise it is `other`. A metric has at most 1000',
    '  series; further ones are counted as `other` in every label. No label names a user or a key.',
    '',
    '| Metric | Type | Labels | Meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
    '## Buckets',
    '',
    '| Histogram | Upper bounds |',
    '|---|---|',
    ...bounds,
    '',
  ].join('\n');
}

/** Every generated document: its path from the root, and what it must contain. */
export function generatedDocs(): Readonly<Record<string, string>> {
  const admin = adminOpenApi(operations);
  return {
    ...writeObservabilityFiles(),
    'console/src/api/operations.ts': writeConsoleTypes(admin),
    'console/src/api/routes.ts': writeConsoleRoutes(admin),
    'docs/reference/config.md': configPage(),
    'docs/reference/errors.md': errorsPage(),
    'docs/guide/timeouts.md': writeTimeoutsPage(note),
    'docs/reference/logs.md': writeLogsPage(note),
    'docs/reference/metrics.md': metricsPage(),
    'docs/reference/openapi/gateway.json': `${JSON.stringify(gatewayOpenApi(), undefined, 2)}\n`,
    'docs/reference/openapi/admin.json': `${JSON.stringify(admin, undefined, 2)}\n`,
    'docs/reference/openapi/monitor.json': `${JSON.stringify(monitorOpenApi(), undefined, 2)}\n`,
  };
}
