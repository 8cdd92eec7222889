import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeldByNode } from '../ports/node-link.ts';
import { type HeldByEdge, planResume, type ResumeStep } from './resume-plan.ts';

function onNode(over: Partial<HeldByNode>): HeldByNode {
  const all = { runId: 'r', attempt: 1, state: 'running', lastSeq: 5, firstKeptSeq: 1, bodyReceivedBytes: 9 };
  return { ...(all as HeldByNode), ...over };
}

const r1 = { runId: 'r', attempt: 1 };
const onEdge = (receivedSeq: number, attempt = 1): HeldByEdge => ({ runId: 'r', attempt, receivedSeq });
const resume = (afterSeq: number, state: HeldByNode['state'] = 'running'): ResumeStep => ({
  ...r1,
  kind: 'resume',
  afterSeq,
  bodyReceivedBytes: 9,
  state,
});

const table: { when: string; node: HeldByNode[]; edge: HeldByEdge[]; plan: ResumeStep[] }[] = [
  { when: 'nobody holds anything', node: [], edge: [], plan: [] },
  { when: 'both hold it and nothing arrived', node: [onNode({})], edge: [onEdge(0)], plan: [resume(0)] },
  { when: 'a part arrived', node: [onNode({ firstKeptSeq: 3 })], edge: [onEdge(3)], plan: [resume(3)] },
  { when: 'all arrived', node: [onNode({ firstKeptSeq: 6 })], edge: [onEdge(5)], plan: [resume(5)] },
  {
    when: 'the Node has not begun',
    node: [onNode({ lastSeq: 0, firstKeptSeq: 0, state: 'starting' })],
    edge: [onEdge(0)],
    plan: [resume(0, 'starting')],
  },
  {
    when: 'it ended meanwhile and the end has not arrived',
    node: [onNode({ state: 'ended' })],
    edge: [onEdge(4)],
    plan: [resume(4, 'ended')],
  },
  {
    when: 'the Edge knows nothing of it',
    node: [onNode({})],
    edge: [],
    plan: [{ kind: 'drop', ...r1 }],
  },
  {
    when: 'a newer attempt is current',
    node: [onNode({})],
    edge: [onEdge(0, 2)],
    plan: [
      { kind: 'drop', ...r1 },
      { kind: 'missing', runId: 'r', attempt: 2 },
    ],
  },
  { when: 'the Node knows nothing of it', node: [], edge: [onEdge(2)], plan: [{ kind: 'missing', ...r1 }] },
  {
    when: 'events were thrown away that had not arrived',
    node: [onNode({ firstKeptSeq: 4 })],
    edge: [onEdge(2)],
    plan: [{ kind: 'gap', ...r1, wantedSeq: 3, firstKeptSeq: 4 }],
  },
  {
    when: 'the Node claims fewer events than arrived',
    node: [onNode({ lastSeq: 1, firstKeptSeq: 1 })],
    edge: [onEdge(2)],
    plan: [{ kind: 'gap', ...r1, wantedSeq: 3, firstKeptSeq: 1 }],
  },
  { when: 'the Node lists it twice', node: [onNode({}), onNode({})], edge: [onEdge(1)], plan: [resume(1)] },
];

for (const { when, node, edge, plan } of table) {
  test(`when ${when}, the plan is ${plan.map((step) => step.kind).join(' and ') || 'empty'}`, () => {
    assert.deepEqual(planResume(node, edge), plan);
  });
}
