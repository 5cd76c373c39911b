import { countIn, textIn, textsIn, type SearchFormat } from './search-format.ts';

const searxng: SearchFormat = {
  prefix: '/searxng',
  method: 'GET',
  path: '/search',
  needsKey: false,
  credentialOf: () => undefined,
  read: ({ query }) => {
    if (query.get('format') !== 'json') return { status: 403, body: 'Forbidden' };
    const text = query.get('q') ?? '';
    if (text === '') return { status: 400, body: { error: 'No query' } };
    return { query: { text, includeHosts: [], excludeHosts: [] }, resultsMax: 20 };
  },
  write: ({ query }, found) => ({
    query: query.get('q') ?? '',
    number_of_results: 0,
    results: found.map(({ document, score, url, snippet }, index) => ({
      url,
      title: document.title,
      content: snippet,
      publishedDate: `${document.date}T00:00:00`,
      thumbnail: '',
      engine: 'simulated',
      template: 'default.html',
      parsed_url: ['http', new URL(url).host, document.path, '', '', ''],
      img_src: '',
      priority: '',
      engines: ['simulated'],
      positions: [index + 1],
      score,
      category: 'general',
    })),
    answers: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: [],
  }),
  error: (_status, message) => ({ error: message }),
  unauthorized: { status: 401, body: { error: 'Unauthorized' } },
};

const braveError = (status: number, code: string, detail: string) => ({
  type: 'ErrorResponse',
  error: { id: '00000000-0000-4000-8000-000000000000', status, code, detail, meta: {} },
  time: 0,
});

const brave: SearchFormat = {
  prefix: '/brave',
  method: 'GET',
  path: '/res/v1/web/search',
  needsKey: true,
  credentialOf: ({ headers }) => headers['x-subscription-token']?.toString(),
  read: ({ query }) => {
    const text = query.get('q') ?? '';
    const count = Number(query.get('count') ?? 20);
    if (text === '' || text.length > 400 || text.split(/\s+/).length > 50 || !(count >= 1 && count <= 20))
      return { status: 422, body: braveError(422, 'VALIDATION', 'Unable to validate request parameter(s)') };
    return { query: { text, includeHosts: [], excludeHosts: [] }, resultsMax: count };
  },
  write: ({ query }, found) => ({
    type: 'search',
    query: { original: query.get('q') ?? '', show_strict_warning: false, is_navigational: false, more_results_available: false },
    mixed: { type: 'mixed', main: found.map((_, index) => ({ type: 'web', index, all: false })), top: [], side: [] },
    ...(found.length > 0 && {
      web: {
        type: 'search',
        family_friendly: true,
        results: found.map(({ document, url, snippet }) => ({
          title: document.title,
          url,
          is_source_local: false,
          is_source_both: false,
          description: `<strong>Simulated.</strong> ${snippet.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}`,
          page_age: `${document.date}T00:00:00`,
          language: document.language,
          family_friendly: true,
          type: 'search_result',
          subtype: 'generic',
          extra_snippets: [],
        })),
      },
    }),
  }),
  error: (status, message) => braveError(status, status === 429 ? 'RATE_LIMITED' : 'INTERNAL', message),
  unauthorized: { status: 422, body: braveError(422, 'SUBSCRIPTION_TOKEN_INVALID', 'The provided subscription token is invalid.') },
};

const tavily: SearchFormat = {
  prefix: '/tavily',
  method: 'POST',
  path: '/search',
  needsKey: true,
  credentialOf: ({ headers }) => /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1],
  read: ({ body }) => {
    const text = textIn(body['query']);
    const resultsMax = countIn(body['max_results'], 5);
    if (text === '' || resultsMax < 0 || resultsMax > 20)
      return { status: 400, body: { detail: { error: 'Invalid query or max_results.' } } };
    return { query: { text, includeHosts: textsIn(body['include_domains']), excludeHosts: textsIn(body['exclude_domains']) }, resultsMax };
  },
  write: ({ body }, found) => ({
    query: textIn(body['query']),
    follow_up_questions: null,
    answer: null,
    images: [],
    results: found.map(({ document, url, snippet, score }) => ({
      url,
      title: document.title,
      content: snippet,
      score: score / (1 + score),
      raw_content: null,
    })),
    response_time: 0.01,
    request_id: '00000000-0000-4000-8000-000000000000',
  }),
  error: (_status, message) => ({ detail: { error: message } }),
  unauthorized: { status: 401, body: { detail: { error: 'Unauthorized: missing or invalid API key.' } } },
};

const exa: SearchFormat = {
  prefix: '/exa',
  method: 'POST',
  path: '/search',
  needsKey: true,
  credentialOf: ({ headers }) => headers['x-api-key']?.toString(),
  read: ({ body }) => {
    const text = textIn(body['query']);
    const resultsMax = countIn(body['numResults'], 10);
    if (text === '' || resultsMax < 1 || resultsMax > 100)
      return { status: 400, body: { requestId: 'simulated', error: 'Invalid request body', tag: 'INVALID_REQUEST_BODY' } };
    return { query: { text, includeHosts: textsIn(body['includeDomains']), excludeHosts: textsIn(body['excludeDomains']) }, resultsMax };
  },
  write: ({ body }, found) => ({
    requestId: 'simulated',
    resolvedSearchType: 'neural',
    results: found.map(({ document, url, score }) => ({
      id: url,
      title: document.title,
      url,
      publishedDate: `${document.date}T00:00:00.000Z`,
      author: 'Simulated author',
      score: score / (1 + score),
      ...(body['contents'] !== undefined && { text: `This is a simulated page.\n\n${document.text}` }),
    })),
    costDollars: { total: 0.005 },
  }),
  error: (_status, message) => ({ requestId: 'simulated', error: message, tag: 'DEFAULT_ERROR' }),
  unauthorized: { status: 401, body: { requestId: 'simulated', error: 'Invalid API key', tag: 'INVALID_API_KEY' } },
};

const serper: SearchFormat = {
  prefix: '/serper',
  method: 'POST',
  path: '/search',
  needsKey: true,
  credentialOf: ({ headers }) => headers['x-api-key']?.toString(),
  read: ({ body }) => {
    const text = textIn(body['q']);
    if (text === '') return { status: 400, body: { message: 'Missing query parameter', statusCode: 400 } };
    return { query: { text, includeHosts: [], excludeHosts: [] }, resultsMax: countIn(body['num'], 10) };
  },
  write: ({ body }, found) => ({
    searchParameters: { q: textIn(body['q']), gl: textIn(body['gl']) || 'us', hl: 'en', type: 'search', engine: 'google' },
    organic: found.map(({ document, url, snippet }, index) => ({
      title: document.title,
      link: url,
      snippet,
      date: document.date,
      position: index + 1,
    })),
    credits: 1,
  }),
  error: (status, message) => ({ message, statusCode: status }),
  unauthorized: { status: 403, body: { message: 'Unauthorized.', statusCode: 403 } },
};

export const searchFormats: readonly SearchFormat[] = [searxng, brave, tavily, exa, serper];
