import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, type CallInit, call } from '../../harness/http.ts';
import type { Ask, Outcome } from '../history/ask.ts';
import { wallMs } from '../wall.ts';
import { runIdOf } from './attached.ts';
import { type Caller, codeIn, patienceMs } from './caller.ts';

/** A stream that can be taken up again after its last whole event. */
export interface Thread {
  /** By an idempotency key: may be asked for again while nobody has said which run it is. */
  start(): CallInit;
  resume(runId: string, text: string): CallInit;
  /** Nothing more will come. */
  isOver(text: string): boolean;
  judge(text: string): Outcome;
}

const longestWaitMs = 300;
const mostCuts = 4;

/** Reads a thread to its end over as many connections as it takes, and cuts some of them itself. */
export async function followThread(caller: Caller, ask: Ask, thread: Thread): Promise<Outcome> {
  const until = performance.now() + patienceMs;
  let text = '';
  let cuts = 0;
  while (!thread.isOver(text)) {
    if (performance.now() > until) return { kind: 'stuck', content: text.slice(-200) };
    const asking = call(ask.runId === undefined ? thread.start() : thread.resume(ask.runId, text));
    const cut = cuts < mostCuts && caller.random() < 0.6 ? cutLater(caller, asking) : undefined;
    const read = await readConnection(ask, asking, until).finally(() => cut?.());
    cuts += cut === undefined ? 0 : 1;
    text += read.text;
    if (read.refused !== undefined) return withRefusal(read.refused, thread.judge(text), text);
    await sleep(20 + caller.random() * longestWaitMs);
  }
  return withTranscript(thread.judge(text), text);
}

/** Some time after the head, now and then before it. */
function cutLater({ random }: Caller, asking: Call): () => void {
  const afterMs = random() * 700;
  let timer: NodeJS.Timeout | undefined;
  const arm = () => {
    timer = setTimeout(() => asking.hangUp(), afterMs);
  };
  if (random() < 0.2) arm();
  else asking.head.then(arm, () => {});
  return () => clearTimeout(timer);
}

interface Refused {
  status: number;
  code: string;
}

async function readConnection(
  ask: Ask,
  asking: Call,
  until: number,
): Promise<{ text: string; refused?: Refused }> {
  const impatience = setTimeout(() => asking.hangUp(), Math.max(0, until - performance.now()));
  try {
    const { status, headers } = await asking.head;
    if (status === 200) {
      ask.connections++;
      ask.runId ??= runIdOf(headers);
      ask.ackedAtMs ??= wallMs();
    }
    await asking.answer.catch(() => {});
    if (status === 200) return { text: wholeEvents(asking.text) };
    return mayComeBack(status, asking.text)
      ? { text: '' }
      : { text: '', refused: { status, code: codeIn(asking.text) } };
  } catch {
    return { text: '' };
  } finally {
    clearTimeout(impatience);
  }
}

/** The Edge itself is not in a state to say anything of the run. */
function mayComeBack(status: number, text: string): boolean {
  return status === 503 && ['store.unavailable', 'edge.stopping', 'edge.stopped'].includes(codeIn(text));
}

/** A run that failed before its content has no stream: its end is a status. */
function withRefusal(refused: Refused, judged: Outcome, text: string): Outcome {
  if (text === '') return { kind: 'refused', ...refused };
  const content = 'content' in judged ? judged.content : '';
  return { kind: 'broken', content, code: refused.code, transcript: undefined };
}

function withTranscript(outcome: Outcome, text: string): Outcome {
  if (outcome.kind !== 'whole' && outcome.kind !== 'broken') return outcome;
  return { ...outcome, transcript: { kind: 'bytes', assembled: text, replay: undefined } };
}

/** Without comments, and without what was cut in the middle. */
export function wholeEvents(text: string): string {
  return text.slice(0, text.lastIndexOf('\n\n') + 2).replaceAll(/^: .*\n\n/gm, '');
}
