import { type OperatorClient, type RunView, toEventJson } from '@iop/client';
import { fromEndEvent, type RunEvent } from '@iop/wire';
import { readStream } from '../../harness/chat.ts';
import { withOperator } from '../callers/link-operator.ts';
import type { LoggedEvent, RunLogFacts, RunStory } from '../history/run-story.ts';
import { markerIn } from '../history/script.ts';
import type { Stage } from '../stage.ts';
import { readOrders } from './stores.ts';

/** Every run that the Edge knows, with its whole log. */
export async function readRuns(stage: Stage): Promise<RunStory[]> {
  const orders = readOrders(stage.edge.stateDir);
  return await withOperator(stage, async (client) => {
    const stories: RunStory[] = [];
    for (const run of await listAll(client)) {
      const log = await readLog(client, run.runId);
      stories.push({ record: toFacts(run, orders.get(run.runId) ?? markerIn(log.content)), log });
    }
    return stories;
  });
}

export async function listAll(client: OperatorClient): Promise<RunView[]> {
  const all: RunView[] = [];
  for (;;) {
    const before = all.at(-1)?.runId;
    const page = await client.listRuns({ limit: 1_000, ...(before !== undefined && { before }) });
    all.push(...page);
    if (page.length < 1_000) return all;
  }
}

function toFacts(run: RunView, marker: string | undefined): RunStory['record'] {
  const { runId, runClass, state, model, node, attempts, startedAtMs, endedAtMs, end, lastPos, stale } = run;
  const createdAtMs = run.createdAtMs ?? 0;
  return {
    runId,
    runClass,
    state,
    model,
    node,
    attempts,
    createdAtMs,
    startedAtMs,
    endedAtMs,
    end,
    lastPos,
    stale,
    marker,
  };
}

async function readLog(client: OperatorClient, runId: string): Promise<RunLogFacts> {
  const events: LoggedEvent[] = [];
  let firstPos = 0;
  for (let afterPos = 0; ; ) {
    const page = await client.readRun(runId, { afterPos, limitBytes: 256 * 1024 });
    if (page.events.length === 0) break;
    if (firstPos === 0) firstPos = page.firstPos;
    for (const [index, event] of page.events.entries()) {
      events.push(toLogged(page.firstPos + index, event));
    }
    afterPos = page.firstPos + page.events.length - 1;
  }
  return { firstPos, events, content: contentOf(events) };
}

const contentKinds = ['raw', 'text', 'reasoning', 'tool-call'];

function toLogged(pos: number, event: RunEvent): LoggedEvent {
  const json = toEventJson(event);
  const kind = String(json.kind);
  return {
    pos,
    kind,
    print: JSON.stringify(json),
    isContent: contentKinds.includes(kind),
    attempt: typeof json.attempt === 'number' ? json.attempt : undefined,
    node: typeof json.node === 'string' ? json.node : undefined,
    end: event.kind.case === 'end' ? fromEndEvent(event.kind.value) : undefined,
  };
}

function contentOf(events: readonly LoggedEvent[]): string {
  let raw = '';
  let text = '';
  for (const { kind, print } of events) {
    if (kind === 'raw') raw += (JSON.parse(print) as { data: string }).data;
    if (kind === 'text') text += (JSON.parse(print) as { text: string }).text;
  }
  if (raw === '') return text;
  return raw.startsWith('{') ? ofJson(raw) : readStream(raw).content;
}

function ofJson(body: string): string {
  try {
    const answer = JSON.parse(body) as { choices?: { message?: { content?: string } }[] };
    return answer.choices?.[0]?.message?.content ?? '';
  } catch {
    return ''; // a piece of one
  }
}
