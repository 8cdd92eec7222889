import type { Ask } from '../history/ask.ts';
import type { RunStory } from '../history/run-story.ts';
import type { TokenCount } from '../history/script.ts';
import { cut, type Indexed, type Rule, type Violation } from './violation.ts';

/** Written behind: an Edge that is killed so soon after the end of an attached run may not know of it any more. */
const writtenBehindMs = 1_500;

/** What a run says is what its model was to say, or the beginning of it. */
export const runContentRule: Rule = (indexed) =>
  indexed.history.runs.flatMap((run): Violation[] => {
    const { runId, marker, end } = run.record;
    const script = indexed.asksOf(run).find((ask) => ask.script.marker === marker)?.script;
    if (script === undefined) return [];
    const { content } = run.log;
    const isRight = end?.kind === 'completed' ? content === script.text : script.text.startsWith(content);
    if (isRight) return [];
    const rule = end?.kind === 'completed' ? 'a completed run said all' : 'a run says what it was told';
    return [{ rule, runId, marker, expected: cut(script.text), found: cut(content) }];
  });

/** What a caller got is what the model was to say; all of it exactly if it looked whole. */
export const answerRule: Rule = (indexed) =>
  indexed.history.asks.flatMap((ask) => judgeAnswer(indexed, ask).map((words) => toViolation(ask, words)));

interface Words {
  rule: string;
  expected: string;
  found: string;
}

function judgeAnswer(indexed: Indexed, ask: Ask): Words[] {
  const { outcome, script } = ask;
  if (!('content' in outcome) || outcome.kind === 'stuck') return [];
  if (outcome.kind === 'whole') return judgeWhole(indexed, ask, outcome);
  const words: Words[] = [];
  if (!script.text.startsWith(outcome.content))
    words.push({ rule: 'no answer says anything else', expected: script.text, found: outcome.content });
  if (outcome.kind === 'broken') words.push(...judgeBroken(indexed, ask, outcome.code));
  return words;
}

function judgeWhole(
  indexed: Indexed,
  ask: Ask,
  { content, usage }: { content: string; usage: TokenCount | undefined },
): Words[] {
  const { script } = ask;
  const words: Words[] = [];
  if (content !== script.text)
    words.push({ rule: 'no answer that was cut looks whole', expected: script.text, found: content });
  const run = indexed.runOf(ask.runId);
  const end = run?.record.end;
  if (end !== undefined && end.kind !== 'completed' && !mayBeForgotten(indexed, ask, run))
    words.push({ rule: 'whole means completed', expected: 'completed', found: JSON.stringify(end) });
  const recorded = end?.kind === 'completed' && end.usage !== undefined ? end.usage : undefined;
  const counts: (TokenCount | undefined)[] = [
    usage,
    recorded && { prompt: recorded.promptTokens, completion: recorded.completionTokens },
    script.usage,
  ];
  const known = counts.filter((count) => count !== undefined).map((count) => JSON.stringify(count));
  if (new Set(known).size > 1)
    words.push({
      rule: 'one usage everywhere',
      expected: 'answer = record = script',
      found: known.join(' ≠ '),
    });
  return words;
}

/** A failure that is told has a name, and is that of a run that failed. */
function judgeBroken(indexed: Indexed, ask: Ask, code: string): Words[] {
  const { end } = indexed.runOf(ask.runId)?.record ?? {};
  const isNamed = code !== '' && !/^(done|sequence|deltas)-/.test(code);
  const words: Words[] = [];
  if (!isNamed)
    words.push({ rule: 'a broken answer says why', expected: 'an error with a code', found: code });
  if (end?.kind === 'completed' && code !== 'run.unknown')
    words.push({ rule: 'broken means not completed', expected: 'an answer that is whole', found: code });
  return words;
}

function mayBeForgotten(indexed: Indexed, ask: Ask, run: RunStory | undefined): boolean {
  if (ask.runClass === 'detached' || run === undefined) return false;
  return indexed
    .faultsOf(['edge'], ask.endedAtMs - 100, ask.endedAtMs + writtenBehindMs)
    .some(({ act }) => act.kind === 'kill');
}

function toViolation({ runId, script }: Ask, { rule, expected, found }: Words): Violation {
  return { rule, runId, marker: script.marker, expected: cut(expected), found: cut(found) };
}

/** What was put together over many connections is what one shows; every watcher saw the order of the log. */
export const transcriptRule: Rule = (indexed) =>
  indexed.history.asks.flatMap((ask): Violation[] => {
    const transcript = 'transcript' in ask.outcome ? ask.outcome.transcript : undefined;
    if (transcript === undefined) return [];
    const pair =
      transcript.kind === 'bytes'
        ? [transcript.replay ?? '', transcript.assembled]
        : [logOf(indexed.runOf(ask.runId), transcript.afterPos), transcript.events.map(line).join('\n')];
    const [expected = '', found = ''] = pair;
    if (expected === found) return [];
    const at = firstDifference(expected, found);
    const rule = 'a transcript of many connections equals one of one';
    return [
      toViolation(ask, {
        rule,
        expected: `at ${at}: ${expected.slice(at)}`,
        found: `at ${at}: ${found.slice(at)}`,
      }),
    ];
  });

function logOf(run: RunStory | undefined, afterPos: number): string {
  const events = run?.log.events.filter(({ pos, kind }) => pos > afterPos && kind !== 'end') ?? [];
  return events.map(line).join('\n');
}

function line({ pos, print }: { pos: number; print: string }): string {
  return `${pos} ${print}`;
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return Math.max(0, at - 40);
}
