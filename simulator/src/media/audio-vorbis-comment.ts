const vendor = 'simulator';

/** Vorbis comments, as FLAC and Ogg Opus carry them (RFC 9639 section 8.6): lengths little end first, text in UTF-8. */
export function writeVorbisComments(comment: string): Buffer {
  return Buffer.concat([withLength(vendor), lengthOf(2), withLength('TITLE=Simulated speech'), withLength(`COMMENT=${comment}`)]);
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([lengthOf(bytes.length), bytes]);
}

function lengthOf(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}
