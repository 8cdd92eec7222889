import assert from 'node:assert/strict';
import { nodeLinkContract } from '../ports/node-link.contract.ts';
import { createFakeNode, type FakeAttempt } from './fake-node.ts';

nodeLinkContract('fake', async () => {
  const link = createFakeNode('a');
  let taken = 0;
  const newest = (runId: string): FakeAttempt => {
    const attempt = link.given.findLast(({ order }) => order.runId === runId);
    assert.ok(attempt !== undefined);
    return attempt;
  };
  return {
    link,
    node: {
      async takeOrder() {
        const attempt = link.given[taken++];
        assert.ok(attempt !== undefined);
        return attempt.order;
      },
      accept: (runId) => newest(runId).accept(),
      say: (runId, text) => newest(runId).say(text),
      end: (runId, end) => newest(runId).end(end),
      cancelledBy: async (runId) => link.askedFor('cancel').find((each) => each.runId === runId)?.by ?? '',
    },
    async until(what, isTrue) {
      assert.ok(isTrue(), what);
    },
    async [Symbol.asyncDispose]() {},
  };
});
