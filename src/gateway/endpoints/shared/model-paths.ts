/** Whether a path speaks generate-content: its versions are that interface's alone, and so are methods of models, which come after a colon. */
export function speaksGenerateContent(path: string): boolean {
  return /^(?:\/upload)?\/v1(?:alpha|beta)/.test(path) || /^\/v1\/models\/.*(?::|%3a)/i.test(path);
}

/** Whether a path ends in a method of a model, which is only posted to: no model is called `gemini-x:generateContent`, though a model's own name may hold a colon too. */
export function namesModelMethod(path: string): boolean {
  return /(?::|%3a)(?:generateContent|streamGenerateContent|countTokens)\/?$/i.test(path);
}
