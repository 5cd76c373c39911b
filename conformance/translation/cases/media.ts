import type { SpokenPart } from '../conversation.ts';
import * as samples from '../samples.ts';
import type { TranslationCase } from '../translation-case.ts';

const section = 'Media';
const asked = (...parts: readonly SpokenPart[]): TranslationCase['conversation'] => ({
  turns: [{ role: 'user', parts: ['Look:', ...parts] }],
});
const image = `user: [image/png, ${samples.imageBytes} bytes]`;
const dropsDetail: readonly string[] = ['anthropic-messages', 'bedrock-converse'];
const pdf = `user: [application/pdf, ${samples.pdfBytes} bytes]`;

/** Images, documents, audio and video. */
export const mediaCases: readonly TranslationCase[] = [
  {
    name: 'an image',
    section,
    conversation: asked({ image: 'inline' }),
    expect: () => ({ received: { turns: ['user: Look:', image] } }),
  },
  {
    name: 'an image at an address',
    only: ['anthropic-messages', 'openai-responses', 'openai-chat'],
    section,
    // The gateway fetches it for Converse, and there is no internet here.
    without: ['bedrock-converse'],
    model: 'thinker',
    conversation: asked({ image: 'address' }),
    expect: () => ({ received: { turns: ['user: Look:', `user: [${samples.imageAddress}]`] } }),
  },
  {
    name: 'an image in a private network',
    only: ['anthropic-messages', 'openai-responses', 'openai-chat'],
    section,
    skipsPassthrough: true,
    conversation: asked({ image: 'private' }),
    expect: () => ({ refused: '*' }),
  },
  {
    name: 'an image with low detail',
    section,
    conversation: asked({ image: 'inline', detail: 'low' }),
    expect: ({ to }) =>
      to === 'openai-chat' || to === 'openai-responses'
        ? { received: { turns: ['user: Look:', `${image} low`] } }
        : { received: { turns: ['user: Look:', image] }, ...(dropsDetail.includes(to) ? { notes: ['dropped *'] } : {}) },
  },
  {
    name: "an image by a vendor's file id",
    section,
    skipsPassthrough: true,
    conversation: asked({ image: 'file' }),
    // Only ids of this gateway's files are valid here; generate-content refers to files by address.
    expect: ({ from }) => ({ refused: '*', ...(from === 'gemini-generate-content' ? {} : { refusedStatus: 404 }) }),
  },
  {
    name: 'a PDF',
    section,
    conversation: asked({ document: 'pdf' }),
    expect: ({ from, to }) =>
      from === 'anthropic-messages' && to === 'gemini-generate-content'
        ? { notes: ['adapted *'] }
        : { received: { turns: ['user: Look:', pdf] } },
  },
  {
    name: 'a PDF in a private network',
    only: ['anthropic-messages', 'openai-responses', 'openai-chat'],
    section,
    skipsPassthrough: true,
    model: 'thinker',
    conversation: asked({ document: 'private' }),
    expect: () => ({ refused: '*' }),
  },
  {
    name: 'a PDF at an address, which the upstream fetches',
    only: ['anthropic-messages', 'openai-responses'],
    section,
    upstreams: ['anthropic-messages', 'openai-responses', 'gemini-generate-content'],
    model: 'thinker',
    conversation: asked({ document: 'address' }),
    expect: () => ({ received: { turns: ['user: Look:', `user: [${samples.documentAddress}]`] } }),
  },
  {
    name: "a PDF by a vendor's file id",
    section,
    skipsPassthrough: true,
    conversation: asked({ document: 'file' }),
    // Only ids of this gateway's files are valid here; generate-content refers to files by address.
    expect: ({ from }) => ({ refused: '*', ...(from === 'gemini-generate-content' ? {} : { refusedStatus: 404 }) }),
  },
  {
    name: 'a document of plain text',
    section,
    conversation: asked({ document: 'text' }),
    expect: ({ from, to }) => {
      const takesText = to === 'anthropic-messages' || to === 'gemini-generate-content' || to === 'bedrock-converse';
      const asFile = from === 'gemini-generate-content' && to === 'openai-responses';
      const file = `user: [text/plain, ${Buffer.byteLength(samples.documentText)} bytes]`;
      const written = takesText ? `user: [text: ${samples.documentText}]` : `user: ${samples.documentText}`;
      return { received: { turns: ['user: Look:', asFile ? file : written] } };
    },
  },
  {
    name: 'a sound',
    section,
    conversation: asked({ audio: 'wav' }),
    expect: ({ to }) =>
      to === 'anthropic-messages' || to === 'bedrock-converse'
        ? { refused: '*' }
        : to === 'openai-responses'
          ? {}
          : { received: { turns: ['user: Look:', `user: [audio/wav, ${samples.wavBytes} bytes]`] } },
  },
  {
    name: 'a video',
    section,
    conversation: asked({ video: 'mp4' }),
    expect: ({ to }) =>
      to === 'bedrock-converse'
        ? { received: { turns: ['user: Look:', `user: [video/mp4, ${samples.videoBytes} bytes]`] } }
        : { refused: '*' },
  },
];
