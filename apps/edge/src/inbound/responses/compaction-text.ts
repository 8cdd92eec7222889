/** What a compaction item says of the conversation that it stands for. Opaque to callers, but no secret: it is theirs. */
const mark = 'iop1.';

export function toCompacted(summary: string): string {
  return mark + Buffer.from(summary).toString('base64url');
}

/** As the model is told it; undefined: somebody else made it. */
export function summaryOf(content: unknown): string | undefined {
  if (typeof content !== 'string' || !content.startsWith(mark)) return undefined;
  const summary = Buffer.from(content.slice(mark.length), 'base64url').toString();
  return `What was said before, as a summary:\n\n${summary}`;
}

export const compactionPrompt =
  'Summarise our conversation so far, so that you can go on from your summary alone: what was asked for, what was found out and decided, what names, paths and numbers matter, and what is still to be done. Answer with the summary and nothing else.';
