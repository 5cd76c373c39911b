/** A request whose body is JSON, or absent. */
type GoRequest = {
  readonly address: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: unknown;
};

/**
 * A request as a program in Go, with the HTTP client of its standard library. The official SDKs for Go have a type for
 * each part of a request, so a body that was written as JSON stays JSON here.
 */
export function writeGo({ address, method, path, query, body }: GoRequest): string {
  const hasBody = body !== undefined;
  const isMessages = path.startsWith('/v1/messages');
  const imports = ['fmt', 'io', 'net/http', 'os', ...(hasBody ? ['strings'] : [])];
  const headers = [
    isMessages
      ? 'request.Header.Set("x-api-key", os.Getenv("WEIR_API_KEY"))'
      : 'request.Header.Set("authorization", "Bearer "+os.Getenv("WEIR_API_KEY"))',
    ...(isMessages ? ['request.Header.Set("anthropic-version", "2023-06-01")'] : []),
    ...(hasBody ? ['request.Header.Set("content-type", "application/json")'] : []),
  ];
  const reader = hasBody ? `strings.NewReader(${quoteGo(JSON.stringify(body, null, 2))})` : 'nil';
  return `package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
\trequest, err := http.NewRequest("${method}", ${JSON.stringify(address + path + query)}, ${reader})
\tif err != nil {
\t\tpanic(err)
\t}
${headers.map((line) => `\t${line}`).join('\n')}
\tresponse, err := http.DefaultClient.Do(request)
\tif err != nil {
\t\tpanic(err)
\t}
\tdefer response.Body.Close()
\tfmt.Fprintln(os.Stderr, response.Status)
\tif _, err := io.Copy(os.Stdout, response.Body); err != nil {
\t\tpanic(err)
\t}
}
`;
}

/** A raw string, or an interpreted one where the text has a backquote. JSON's escapes are Go's too, except `\/`. */
function quoteGo(text: string): string {
  return text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
}
