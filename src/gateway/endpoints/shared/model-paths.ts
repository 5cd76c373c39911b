/** Whether a path belongs to generate-content: its own versions, and methods of models, which follow a colon. */
export function speaksGenerateContent(path: string): boolean {
  return /^(?:\/upload)?\/v1(?:alpha|beta)/.test(path) || /^\/v1\/models\/.*(?::|%3a)/i.test(path);
}

/** Whether a path ends in a method of a model, which clients POST. The name of a model may contain a colon too. */
export function namesModelMethod(path: string): boolean {
  return /(?::|%3a)(?:generateContent|streamGenerateContent|countTokens)\/?$/i.test(path);
}
