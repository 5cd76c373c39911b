/** The categories of the interface, and whether images are judged by them too. */
export const categories = {
  hate: 'text',
  'hate/threatening': 'text',
  harassment: 'text',
  'harassment/threatening': 'text',
  illicit: 'text',
  'illicit/violent': 'text',
  'self-harm': 'text and image',
  'self-harm/intent': 'text and image',
  'self-harm/instructions': 'text and image',
  sexual: 'text and image',
  'sexual/minors': 'text',
  violence: 'text and image',
  'violence/graphic': 'text and image',
} as const;

export type Category = keyof typeof categories;

// The keys are those of the table.
export const categoryNames = Object.keys(categories) as readonly Category[];
